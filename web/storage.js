// Files of the page, by key, in IndexedDB. Errors are sentences that can be shown as they are.

const DATABASE = 'plateau';
const FILES = 'files';
// What one file may hold: browsers count storage by site, and a run should not crowd out others.
const MOST = 64 * 1024 * 1024;

const REASONS = {
  QuotaExceededError: 'the browser has no room left for this site',
  SecurityError: 'the browser does not let this site store anything',
  InvalidStateError: 'the browser does not let this site store anything (a private window?)',
  VersionError: 'what is stored was written by a newer version of this page',
  UnknownError: 'the browser could not read its own storage',
};

function readable(error) {
  return new Error(REASONS[error?.name] ?? `storage failed: ${error?.message ?? error}`);
}

// `?fresh` opens the page as if nothing were stored, for the case that what is stored ends it.
const fresh = new URLSearchParams(location.search).has('fresh');

function open() {
  return new Promise((resolve, reject) => {
    // Some browsers throw here, where storage is refused.
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(FILES);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error('another tab holds it'));
  });
}

// One transaction. It resolves when the data are on disk, not when they are asked to be.
async function act(mode, request) {
  let database;
  try {
    database = await open();
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(FILES, mode);
      const asked = request(transaction.objectStore(FILES));
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onabort = () => reject(transaction.error ?? asked.error);
      transaction.onerror = () => reject(transaction.error ?? asked.error);
    });
  } catch (error) {
    throw readable(error);
  } finally {
    database?.close();
  }
}

export async function load(key) {
  if (fresh) return undefined;
  return act('readonly', (files) => files.get(key));
}

export async function save(key, bytes) {
  if (bytes.byteLength > MOST) throw new Error(`too large to be stored: ${Math.ceil(bytes.byteLength / 2 ** 20)} MiB, at most ${MOST / 2 ** 20}`);
  // A copy at once: the caller's array may be a view of memory that moves on.
  const kept = bytes.slice();
  await act('readwrite', (files) => files.put(kept, key));
}

export async function remove(key) {
  await act('readwrite', (files) => files.delete(key));
}
