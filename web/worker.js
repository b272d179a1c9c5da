// The engine's worker: the same program as the page, by another entry point. A string back is why it could not start.

addEventListener('message', start, { once: true });

async function start({ data: { module } }) {
  try {
    const plateau = await import('./plateau.js');
    await plateau.default({ module_or_path: module });
    // From here on messages are the program's: it sets its own handler before it returns.
    plateau.start_worker();
  } catch (error) {
    postMessage(`the engine's worker did not start: ${error?.stack ?? error}`);
  }
}
