// What is said instead of a grey page: what is missing, what to do, and a report to copy.

const BROWSERS = 'Chrome or Edge 96, Firefox 114, Safari 16.4, or newer';
const RELOAD = 'Reload the page.';

// By kind: a title, what happened, what to do about it (one line each).
const MESSAGES = {
  wasm: {
    title: 'This browser does not run WebAssembly',
    text: 'Plateau trains its networks in the page, and needs WebAssembly for that. It is too old, or switched off (some hardened browsers and company policies do that).',
    todo: [`Open the page in ${BROWSERS}.`, 'In a hardened browser, allow WebAssembly for this site.'],
  },
  simd: {
    title: 'This browser is a little too old',
    text: 'Plateau computes with WebAssembly SIMD, which this browser (or the processor under it) does not have.',
    todo: [`Update the browser: ${BROWSERS}.`],
  },
  webgl: {
    title: 'No WebGL here',
    text: 'The plots are drawn with WebGL 2, and this browser gives none: it is switched off, or the graphics driver is blocked.',
    todo: [
      'Switch on hardware acceleration in the settings of the browser, and restart it.',
      'Another browser on the same machine often works.',
    ],
  },
  worker: {
    title: 'The engine could not start',
    text: 'Training runs in a worker, beside the page, and the browser or an extension did not let it start.',
    todo: [RELOAD, 'Allow scripts and workers for this site in blockers of scripts.', `It needs ${BROWSERS}.`],
  },
  panic: {
    title: 'Plateau has stopped',
    text: 'Something happened that its authors ruled out; this is their mistake, not yours. The report below tells them where.',
    todo: [
      'Reload the page to go on. What was stored is kept.',
      'If it stops again, start afresh: the page then opens without the settings in its address and without the stored run.',
    ],
    fresh: true,
  },
  memory: {
    title: 'Not enough memory',
    text: 'The browser gave no more memory to this page.',
    todo: ['Close other tabs and reload.', 'Choose a smaller run: fewer seeds, a smaller network.'],
    fresh: true,
  },
  missing: {
    title: 'The program could not be loaded',
    text: 'The page is here, but a part of its program did not arrive: the connection broke, or the host lacks a file.',
    todo: [RELOAD, 'If this is your own copy: web/build.sh makes the folder, web/serve.sh serves it.'],
  },
  mixed: {
    title: 'Two versions got mixed',
    text: 'The page was updated, and the browser still holds parts of the older one.',
    todo: ['Reload the page without the cache: Ctrl+Shift+R, on a Mac Cmd+Shift+R.'],
  },
  lost: {
    title: 'The graphics driver was reset',
    text: 'The browser took the drawing surface away, and the page cannot draw any more.',
    todo: ['Reload the page to go on. What was stored is kept.'],
  },
  start: {
    title: 'Plateau could not start',
    text: 'The program was loaded and then gave up.',
    todo: [RELOAD, `It needs ${BROWSERS}.`],
    fresh: true,
  },
};

export function version() {
  return document.querySelector('meta[name=plateau-version]')?.content ?? 'unknown';
}

// The address without what may be personal: no fragment, no query, no path on the user's disk.
function place() {
  return location.protocol === 'file:' ? 'file:' : location.origin + location.pathname;
}

export function reportOf(kind, detail) {
  return [
    `Plateau ${version()}`,
    `what: ${kind}`,
    `page: ${place()}`,
    `browser: ${navigator.userAgent}`,
    `WebGPU: ${navigator.gpu ? 'yes' : 'no'}`,
    '',
    detail || '(no more is known)',
  ].join('\n');
}

// A panic of the allocator is a matter of memory, whoever reports it.
function refine(kind, detail) {
  return /out of memory|memory allocation of|could not allocate memory/i.test(detail) ? 'memory' : kind;
}

let shown = false;

// Replaces everything by a message. The first one stays: what follows is mostly its consequence.
export function fail(kind, detail = '') {
  if (shown) return;
  shown = true;
  const text = String(detail);
  const known = refine(kind in MESSAGES ? kind : 'start', text);
  const screen = document.getElementById('failure');
  screen.replaceChildren(...parts(MESSAGES[known], reportOf(known, text)));
  screen.hidden = false;
  for (const id of ['loading', 'plateau', 'from-file', 'not-loaded']) document.getElementById(id).hidden = true;
  screen.querySelector('h1').focus();
}

function parts(message, report) {
  const title = element('h1', message.title);
  title.tabIndex = -1;
  const list = element('ul');
  list.append(...message.todo.map((line) => element('li', line)));
  const details = element('details');
  const box = element('pre', report);
  box.tabIndex = 0;
  box.setAttribute('aria-label', 'Report');
  details.append(element('summary', 'Report'), box);
  return [title, element('p', message.text), list, buttons(message, report, details), details];
}

function buttons(message, report, details) {
  const row = element('p');
  row.className = 'buttons';
  row.append(button('Reload', () => location.reload()));
  if (message.fresh) row.append(button('Start afresh', () => location.assign('./?fresh')));
  const copied = element('span');
  copied.setAttribute('role', 'status');
  const copying = button('Copy report', async () => {
    details.open = true;
    copied.textContent = (await copy(report, details.querySelector('pre'))) ? 'Copied.' : 'Select the report and copy it.';
  });
  row.append(copying, copied);
  return row;
}

// The clipboard may be refused, and is absent outside https and localhost: then the text is selected, and the old way tried.
async function copy(text, box) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(box);
    return document.execCommand('copy');
  }
}

function element(name, text = '') {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function button(text, action) {
  const made = element('button', text);
  made.type = 'button';
  made.addEventListener('click', action);
  return made;
}
