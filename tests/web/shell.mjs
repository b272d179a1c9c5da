// The page around the program, with a stub in the program's place: loading, messages, storage, downloads, hosts.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ROOT, host, launch, shot, strangers, tab } from './harness.mjs';
import { answer, stub } from './stub.mjs';

let browser;
let site;

before(async () => {
  browser = await launch();
  site = await host('web');
});
after(async () => {
  await browser.close();
  await site.close();
});

// Opens the page after `prepare(page)`, runs `check`, and closes.
async function opened(prepare, check, options = {}) {
  const { path = '', ...context } = options;
  const view = await tab(browser, { prepare, ...context });
  try {
    await view.page.goto(site.address + path);
    await check(view.page, view);
  } finally {
    await view.close();
  }
}

async function failure(page) {
  const screen = page.locator('#failure');
  await screen.waitFor({ state: 'visible', timeout: 10_000 });
  return screen;
}

test('the loading bar is there before any script has run', async () => {
  const held = [];
  const hold = (page) => page.route('**/*.js', (route) => held.push(route));
  const view = await tab(browser, { prepare: hold });
  try {
    await view.page.goto(site.address, { waitUntil: 'commit' });
    await view.page.locator('#loading-bar').waitFor({ state: 'attached' });
    // Scripts that are held back must not hold back the first paint of what is above them.
    await Promise.all(held.filter((route) => route.request().url().endsWith('early.js')).map((route) => route.continue()));
    await view.page.locator('#loading-bar').waitFor({ state: 'visible' });
    await shot(view.page, 'shell-loading');
  } finally {
    await Promise.all(held.map((route) => route.abort().catch(() => {})));
    await view.close();
  }
});

test('without JavaScript the page says that it needs it', async () => {
  await opened(undefined, async (page) => {
    assert.match(await page.locator('#loading').innerText(), /needs JavaScript/);
  }, { javaScriptEnabled: false });
});

test('the bar fills by download, compilation and what the program reports, and goes when it is ready', async () => {
  await opened((page) => stub(page, 'await new Promise(() => {});'), async (page) => {
    await page.getByText('Starting …').waitFor();
    assert.equal(await page.locator('#loading-bar').evaluate((bar) => bar.value), 0.7);
    await page.evaluate(() => plateauHost.progress('Preparing kernels …', 0.5));
    assert.equal(await page.locator('#loading-text').innerText(), 'Preparing kernels …');
    assert.ok(Math.abs((await page.locator('#loading-bar').evaluate((bar) => bar.value)) - 0.85) < 1e-9);
    await page.evaluate(() => plateauHost.ready());
    assert.equal(await page.locator('#loading').count(), 0);
  });
});

const LACKS = {
  wasm: () => delete globalThis.WebAssembly,
  simd: () => { WebAssembly.validate = () => false; },
  webgl: () => { HTMLCanvasElement.prototype.getContext = () => null; },
  worker: () => delete globalThis.Worker,
};
const TITLES = {
  wasm: /does not run WebAssembly/,
  simd: /too old/,
  webgl: /No WebGL/,
  worker: /engine could not start/,
  panic: /has stopped/,
  memory: /Not enough memory/,
  missing: /could not be loaded/,
  mixed: /Two versions/,
  lost: /driver was reset/,
  start: /could not start/,
};

for (const [kind, remove] of Object.entries(LACKS)) {
  for (const colorScheme of ['light', 'dark']) {
    test(`a browser without ${kind} is told so (${colorScheme})`, async () => {
      await opened(async (page) => {
        await stub(page);
        await page.addInitScript(remove);
      }, async (page, view) => {
        const screen = await failure(page);
        assert.match(await screen.locator('h1').innerText(), TITLES[kind]);
        assert.ok(!(await page.locator('#loading').isVisible()));
        assert.ok(!(await page.locator('#plateau').isVisible()));
        assert.deepEqual(view.thrown, []);
        await shot(page, `shell-no-${kind}-${colorScheme}`);
      }, { colorScheme });
    });
  }
}

// What the program, or the way to it, may do wrong.
const ENDS = {
  'a panic of the program': ['panic', (page) => stub(page, `plateauHost.failed('panic', 'panicked at src/x.rs:1:2: no'); throw new WebAssembly.RuntimeError('unreachable');`)],
  'a trap without a report': ['panic', (page) => stub(page, `setTimeout(() => { throw new WebAssembly.RuntimeError('unreachable'); });`)],
  'memory that ran out': ['memory', (page) => stub(page, `plateauHost.failed('panic', 'memory allocation of 1073741824 bytes failed');`)],
  'a worker that is blocked': ['worker', (page) => stub(page, `plateauHost.failed('worker', 'SecurityError');`)],
  'a kind that nobody knows': ['start', (page) => stub(page, `plateauHost.failed('toString', undefined);`)],
  'a start that gives up': ['start', (page) => stub(page, `throw 'no canvas';`)],
  'a context that is lost': ['lost', (page) => stub(page, `canvas.getContext('webgl2').getExtension('WEBGL_lose_context').loseContext();`)],
  'glue of another version': ['mixed', (page) => stub(page, `throw new WebAssembly.LinkError('import object field is not a Function');`)],
  'a program that is not there': ['missing', async (page) => { await stub(page); await answer(page, 'plateau_bg.wasm', 404); }],
  'glue that is not there': ['missing', async (page) => { await stub(page); await answer(page, 'plateau.js', 404); }],
  'a program that is no program': ['missing', async (page) => { await stub(page); await answer(page, 'plateau_bg.wasm', 200); }],
  'a connection that breaks': ['missing', async (page) => {
    await stub(page);
    await page.context().route('**/plateau_bg.wasm', (route) => route.abort('connectionreset'));
  }],
};

for (const [name, [kind, prepare]] of Object.entries(ENDS)) {
  test(`${name} is said in plain words`, async () => {
    await opened(prepare, async (page) => {
      const screen = await failure(page);
      assert.match(await screen.locator('h1').innerText(), TITLES[kind]);
      await screen.locator('summary').click();
      await shot(page, `shell-${kind}-${name.replaceAll(' ', '-')}`);
    });
  });
}

test('the report can be copied, and holds nothing personal', async () => {
  const prepare = (page) => stub(page, `plateauHost.failed('panic', 'panicked at src/x.rs:1:2');`);
  await opened(prepare, async (page) => {
    const screen = await failure(page);
    await screen.getByRole('button', { name: 'Copy report' }).click();
    await screen.getByText('Copied.').waitFor();
    const report = await page.evaluate(() => navigator.clipboard.readText());
    for (const part of ['Plateau development', 'what: panic', 'panicked at src/x.rs:1:2', 'Chrome', site.address]) {
      assert.ok(report.includes(part), `${part} in ${report}`);
    }
    assert.ok(!report.includes('secret'), report);
  }, { path: '?secret=1#secret', permissions: ['clipboard-read', 'clipboard-write'] });
});

test('start afresh leaves address and stored run alone', async () => {
  const prepare = (page) => stub(page, `plateauHost.failed('panic', 'again');`);
  await opened(prepare, async (page) => {
    const screen = await failure(page);
    await page.evaluate(() => plateauHost.save('run', Uint8Array.of(7)));
    await screen.getByRole('button', { name: 'Start afresh' }).click();
    await page.waitForURL(`${site.address}?fresh`);
    await failure(page);
    assert.equal(await page.evaluate(() => plateauHost.load('run')), undefined);
    await page.goto(site.address);
    await failure(page);
    assert.deepEqual(await page.evaluate(async () => [...(await plateauHost.load('run'))]), [7]);
  }, { path: '#model.seed=3' });
});

test('a page without boot.js says that it did not load', async () => {
  await opened((page) => answer(page, 'boot.js', 404), async (page) => {
    await page.locator('#not-loaded').waitFor({ state: 'visible' });
  });
});

test('a page opened as a file says how to serve it', async () => {
  const view = await tab(browser);
  try {
    await view.page.goto(`file://${ROOT}web/index.html`);
    await view.page.locator('#from-file').waitFor({ state: 'visible' });
    await shot(view.page, 'shell-file');
  } finally {
    await view.close();
  }
});

test('storage keeps, gives back, survives a reload, forgets', async () => {
  await opened((page) => stub(page), async (page) => {
    await page.waitForFunction(() => globalThis.plateauHost);
    assert.equal(await page.evaluate(() => plateauHost.load('nothing')), undefined);
    await page.evaluate(async () => {
      const memory = new Uint8Array(100).fill(1);
      const saving = plateauHost.save('a', memory.subarray(10, 13));
      memory.fill(9);
      await saving;
    });
    await page.reload();
    await page.waitForFunction(() => globalThis.plateauHost);
    const got = await page.evaluate(async () => {
      const bytes = await plateauHost.load('a');
      return [bytes.constructor.name, ...bytes];
    });
    assert.deepEqual(got, ['Uint8Array', 1, 1, 1]);
    await page.evaluate(() => plateauHost.remove('a'));
    assert.equal(await page.evaluate(() => plateauHost.load('a')), undefined);
  });
});

test('storage that is refused, full or asked too much says so', async () => {
  const why = (page, how) => page.evaluate(how).then(() => 'nothing', (error) => error.message);
  await opened((page) => stub(page), async (page) => {
    await page.waitForFunction(() => globalThis.plateauHost);
    assert.match(await why(page, () => plateauHost.save('a', new Uint8Array(64 * 2 ** 20 + 1))), /too large/);
    await page.evaluate(() => {
      IDBObjectStore.prototype.put = () => { throw new DOMException('', 'QuotaExceededError'); };
    });
    assert.match(await why(page, () => plateauHost.save('a', new Uint8Array(1))), /no room left/);
    await page.evaluate(() => {
      indexedDB.open = () => { throw new DOMException('', 'SecurityError'); };
    });
    for (const how of [() => plateauHost.load('a'), () => plateauHost.save('a', new Uint8Array(1)), () => plateauHost.remove('a')]) {
      assert.match(await why(page, how), /does not let this site store/);
    }
  });
});

test('a download arrives with its name and bytes', async () => {
  await opened((page) => stub(page), async (page) => {
    await page.waitForFunction(() => globalThis.plateauHost);
    const coming = page.waitForEvent('download');
    await page.evaluate(() => plateauHost.download('run.csv', 'text/csv', Uint8Array.of(97, 44, 98)));
    const download = await coming;
    assert.equal(download.suggestedFilename(), 'run.csv');
    const { readFile } = await import('node:fs/promises');
    assert.equal(await readFile(await download.path(), 'utf8'), 'a,b');
  });
});

test('the wheel neither scrolls nor zooms the page, and the canvas has focus, role and label', async () => {
  await opened((page) => stub(page), async (page) => {
    await page.locator('#loading').waitFor({ state: 'detached' });
    await page.mouse.move(300, 300);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -600);
    await page.keyboard.up('Control');
    await page.mouse.wheel(0, 600);
    assert.deepEqual(await page.evaluate(() => [scrollY, visualViewport.scale, devicePixelRatio]), [0, 1, 1]);
    const canvas = page.getByRole('application', { name: /plots/ });
    await canvas.focus();
    assert.equal(await page.evaluate(() => document.activeElement.id), 'plateau');
    assert.deepEqual(await page.evaluate(() => [document.title, document.documentElement.lang]), ['Plateau', 'en']);
  });
});

test('the worker starts the program, and says why it cannot', async () => {
  const ask = () => new Promise((resolve) => {
    const worker = new Worker('./worker.js', { type: 'module' });
    const heard = [];
    worker.onmessage = ({ data }) => {
      heard.push(data);
      if (data === 'ready') worker.postMessage(Uint8Array.of(5));
      else resolve(heard.map(String));
    };
    worker.postMessage({ module: new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)) });
  });
  await opened((page) => stub(page), async (page) => {
    assert.deepEqual(await page.evaluate(ask), ['ready', '5']);
    await answer(page, 'plateau.js', 404);
    assert.match((await page.evaluate(ask))[0], /worker did not start/);
  });
});

for (const plain of [false, true]) {
  test(`under a base path, ${plain ? 'from a host without headers or types' : 'with the policy as a header'}, nothing is said and nothing leaves the origin`, async () => {
    const far = await host('web', { base: '/some/where/', plain });
    const view = await tab(browser, { prepare: (page) => stub(page) });
    try {
      await view.page.goto(far.address);
      await view.page.locator('#loading').waitFor({ state: 'detached' });
      assert.deepEqual(view.said, []);
      assert.deepEqual(view.thrown, []);
      assert.deepEqual(strangers(view.asked, far.origin), []);
      assert.ok(view.asked.every((address) => address.startsWith(far.address)), view.asked.join('\n'));
    } finally {
      await view.close();
      await far.close();
    }
  });
}
