// The page as it is built: the whole lab in a browser, with WebGPU and without.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { host, launch, shot, strangers, tab } from './harness.mjs';
import { colours, differ } from './picture.mjs';
import { desktop, halfTimes, runOfZip } from './run.mjs';

// The closed form amplifies a rounding error no more than itself: a hundredth of a step is far above it
// and far below anything an error in a kernel would do.
const TOLERANCE = 0.01;
// A busy machine without a GPU is slow; nothing here is a measure of speed.
const PATIENCE = 60_000;

let site;
let withGpu;
let without;

before(async () => {
  site = await host('web/dist');
  withGpu = await launch();
  without = await launch({ webgpu: false });
});
after(async () => {
  await Promise.all([withGpu.close(), without.close()]);
  await site.close();
});

async function lab(browser, path, check, options = {}) {
  const view = await tab(browser, options);
  view.page.setDefaultTimeout(PATIENCE);
  try {
    await view.page.goto(site.address + path);
    await ready(view.page);
    await check(view.page, view);
    assert.deepEqual(view.thrown, []);
    assert.ok(!(await view.page.locator('#failure').isVisible()), 'the page gave up');
  } finally {
    await view.close();
  }
}

async function ready(page) {
  await page.locator('#loading').waitFor({ state: 'detached' });
  await page.locator('#plateau').focus();
}

const percent = (page) => page.evaluate(() => Number.parseInt(document.title, 10));
const playing = (page) => page.waitForFunction(() => document.title.includes('%'));
const beyond = (page, part) => page.waitForFunction((part) => Number.parseInt(document.title, 10) >= part, part);
const address = (page) => page.evaluate(() => location.hash);

// As fast as it goes, to the end.
async function finish(page) {
  await playing(page);
  await page.keyboard.press('m');
  await page.waitForFunction(() => document.title === 'Plateau');
}

async function exported(page) {
  const coming = page.waitForEvent('download');
  await page.keyboard.press('Control+e');
  const download = await coming;
  assert.match(download.suggestedFilename(), /\.zip$/);
  return runOfZip(await readFile(await download.path()));
}

function agree(ours, theirs) {
  const [page, desk] = [halfTimes(ours), halfTimes(theirs)];
  assert.equal(page.length, 8);
  page.forEach((time, mode) => {
    assert.ok(Math.abs(time - desk[mode]) < TOLERANCE, `mode ${mode}: ${time} in the page, ${desk[mode]} on the desktop`);
  });
}

test('with WebGPU the half-times are the desktop\'s, the console is empty, nothing leaves the origin', async () => {
  await lab(withGpu, '#saxe/standard?executor=gpu', async (page, view) => {
    await finish(page);
    const run = await exported(page);
    assert.deepEqual([run.executor.kind, run.executor.backend, run.complete, run.notices], ['gpu', 'BrowserWebGpu', true, []]);
    agree(run, desktop('--executor', 'gpu'));
    assert.deepEqual(view.said, []);
    assert.deepEqual(strangers(view.asked, site.origin), []);
  });
});

test('without WebGPU the twins give the same, and the status bar says so', async () => {
  await lab(without, '#saxe/standard?executor=gpu', async (page, view) => {
    await finish(page);
    const run = await exported(page);
    assert.equal(run.executor.kind, 'cpu');
    assert.match(run.notices.map((notice) => notice.text).join(), /no WebGPU adapter/);
    agree(run, desktop('--executor', 'cpu'));
    assert.deepEqual(view.said, []);
    await shot(page, 'lab-no-webgpu');
  });
});

test('a device that is lost is replaced, and the run is the same', async () => {
  await lab(withGpu, '#saxe/standard?executor=gpu', async (page) => {
    await playing(page);
    await page.keyboard.press('m');
    await beyond(page, 20);
    await page.keyboard.press('Control+Shift+l');
    await page.waitForFunction(() => document.title === 'Plateau');
    const run = await exported(page);
    assert.equal(run.executor.kind, 'gpu');
    assert.match(run.notices.map((notice) => notice.text).join(), /lost.*resumed from the checkpoint/);
    agree(run, desktop('--executor', 'gpu'));
  });
});

// A script in front of the worker's own.
function prelude(script) {
  return (page) => page.context().route('**/worker.js', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${script}\n${await response.text()}` });
  });
}

test('a browser that computes wrong is told, not trusted', async () => {
  const lie = prelude(`
    const make = GPUDevice.prototype.createShaderModule;
    GPUDevice.prototype.createShaderModule = function (it) {
      return make.call(this, { ...it, code: it.code.replace('sum += u[task', 'sum += 0.001 + u[task') });
    };`);
  await lab(withGpu, '#saxe/standard?executor=gpu', async (page) => {
    await playing(page);
    const run = await exported(page);
    assert.equal(run.executor.kind, 'cpu');
    assert.match(run.notices.map((notice) => notice.text).join(), /computes wrong.*mode_projection/);
    await shot(page, 'lab-wrong');
  }, { prepare: lie });
});

test('a worker that dies is replaced, and the run goes on', async () => {
  let times = 0;
  const die = async (page) => page.context().route('**/worker.js', async (route) => {
    const response = await route.fetch();
    times += 1;
    const script = times === 1 ? "setTimeout(() => postMessage('panicked at src/x.rs:1:1'), 4000);" : '';
    await route.fulfill({ response, body: `${script}\n${await response.text()}` });
  });
  await lab(without, '#saxe/standard', async (page) => {
    await beyond(page, 10);
    await page.waitForFunction(() => !document.title.includes('%') || Number.parseInt(document.title, 10) > 40);
    await playing(page);
    await finish(page);
    assert.equal(times, 2);
    agree(await exported(page), desktop('--executor', 'cpu'));
    await shot(page, 'lab-worker-died');
  }, { prepare: die });
});

for (const [width, height] of [[1280, 720], [1920, 1080]]) {
  test(`the window is drawn at ${width} x ${height}, light and dark`, async () => {
    await lab(without, '#saxe/standard', async (page) => {
      await beyond(page, 30);
      for (const theme of ['light', 'dark']) {
        if (theme === 'dark') await page.keyboard.press('t');
        await page.waitForTimeout(300);
        const picture = await shot(page, `lab-${width}-${theme}`);
        assert.ok((await colours(page, picture)) > 200, 'as good as blank');
      }
    }, { viewport: { width, height } });
  });
}

test('a phone held upright, or across, shows something of use', async () => {
  for (const [name, width, height] of [['upright', 390, 844], ['across', 844, 390]]) {
    await lab(without, '#saxe/standard', async (page) => {
      await beyond(page, 20);
      assert.ok((await colours(page, await shot(page, `lab-phone-${name}`))) > 50);
    }, { viewport: { width, height }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
  }
});

// Two fingers or one, on their way from one place to another.
async function swipe(page, from, to) {
  const session = await page.context().newCDPSession(page);
  const touch = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points });
  const between = (part) => from.map((point, finger) => ({
    x: point[0] + part * (to[finger][0] - point[0]),
    y: point[1] + part * (to[finger][1] - point[1]),
    id: finger,
  }));
  await touch('touchStart', between(0));
  for (const part of [0.25, 0.5, 0.75, 1]) {
    await touch('touchMove', between(part));
    await page.waitForTimeout(50);
  }
  await touch('touchEnd', []);
}

test('wheel, drag, keys and touch reach the plot', async () => {
  await lab(without, '#saxe/standard?executor=cpu', async (page) => {
    await finish(page);
    const look = async () => {
      // Away from what shows something on hovering.
      await page.mouse.move(1278, 718);
      await page.waitForTimeout(400);
      return page.screenshot({ clip: { x: 320, y: 30, width: 960, height: 630 } });
    };
    const plain = await look();
    const gestures = {
      async wheel() {
        await page.mouse.move(700, 200);
        await page.keyboard.down('Control');
        await page.mouse.wheel(0, -300);
        await page.keyboard.up('Control');
      },
      async drag() {
        await page.mouse.move(700, 200);
        await page.mouse.down();
        await page.mouse.move(600, 250, { steps: 5 });
        await page.mouse.up();
      },
      key: () => page.keyboard.press('x'),
      touch: () => swipe(page, [[700, 200]], [[560, 240]]),
      pinch: () => swipe(page, [[650, 200], [750, 200]], [[550, 180], [850, 220]]),
    };
    for (const [name, gesture] of Object.entries(gestures)) {
      await gesture();
      const changed = await look();
      assert.ok(await differ(page, plain, changed), `${name} changed nothing`);
      if (name === 'key') await page.keyboard.press('x');
      await page.keyboard.press('v');
      assert.ok(!(await differ(page, plain, await look())), `after ${name}, fitting the views brings the picture back`);
    }
  }, { hasTouch: true });
});

test('a reload restores settings, looks and run', async () => {
  await lab(without, '#saxe/standard?executor=cpu', async (page) => {
    await page.keyboard.press('t');
    await beyond(page, 40);
    await page.keyboard.press('n');
    await page.waitForFunction(() => !location.hash.includes('standard'));
    const link = await address(page);
    await beyond(page, 30);
    await page.reload();
    await ready(page);
    await playing(page);
    assert.ok((await percent(page)) >= 25, 'the run goes on');
    assert.equal(await address(page), link);
    await shot(page, 'lab-reloaded');
    await finish(page);
    const run = await exported(page);
    const steps = [...run.rows.keys()];
    assert.equal(steps.length, new Set(steps).size);
    assert.deepEqual(steps.slice(0, 3), [0, run.spec.measure.every, 2 * run.spec.measure.every]);
    agree(run, desktop('--executor', 'cpu', '--preset', link.match(/saxe\/([^?]*)/)[1]));
    await page.reload();
    await ready(page);
    await page.waitForTimeout(1000);
    assert.equal((await exported(page)).complete, true);
  });
});

test('a link opens what it says, a changed address is followed', async () => {
  const link = '#saxe/standard?ensemble.members=3&training.eta=0.02&executor=cpu';
  await lab(without, link, async (page) => {
    await playing(page);
    const { spec } = await exported(page);
    assert.deepEqual([spec.ensemble.members, spec.training.eta], [3, 0.02]);
    await page.evaluate(() => { location.hash = '#saxe/standard?ensemble.members=5&executor=cpu'; });
    await page.waitForTimeout(1500);
    assert.equal((await exported(page)).spec.ensemble.members, 5);
    await page.keyboard.press('Control+z');
    await page.waitForFunction((link) => location.hash.includes('members=3'), link);
  });
});

test('a wrong link gives a line', async () => {
  for (const link of ['#saxe/standrad', '#nothing', '#saxe/standard?training.eta=-1', '#%ff%', `#${'x'.repeat(20_000)}`]) {
    await lab(without, link, async (page, view) => {
      await playing(page);
      assert.equal(await address(page), '#saxe/standard');
      assert.deepEqual(view.said, []);
      if (link === '#saxe/standrad') await shot(page, 'lab-wrong-link');
    });
  }
});

test('a damaged session is kept aside', async () => {
  await lab(without, '', async (page) => {
    await playing(page);
    await page.evaluate(() => plateauHost.save('session', Uint8Array.of(1, 2, 3)));
    // The page writes over it when it goes; a page that cannot write leaves it.
    await page.evaluate(() => { IDBObjectStore.prototype.put = () => { throw new Error('no'); }; });
    await page.reload();
    await ready(page);
    await playing(page);
    assert.deepEqual(await page.evaluate(async () => [...(await plateauHost.load('session-unread'))]), [1, 2, 3]);
    await shot(page, 'lab-damaged');
  });
});

test('a browser that refuses storage still trains', async () => {
  const refuse = (page) => page.addInitScript(() => {
    indexedDB.open = () => { throw new DOMException('', 'SecurityError'); };
  });
  await lab(without, '', async (page, view) => {
    await beyond(page, 5);
    assert.deepEqual(view.said, []);
    await shot(page, 'lab-no-storage');
  }, { prepare: refuse });
});

test('a run that is dropped opens, a file that is none is refused with a line', async () => {
  const drop = (page, name, bytes) => page.evaluate(([name, bytes]) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(bytes)], name));
    for (const type of ['dragover', 'drop']) {
      document.getElementById('plateau').dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
  }, [name, [...bytes]]);
  await lab(without, '#saxe/standard?executor=cpu&ensemble.members=2', async (page) => {
    await finish(page);
    const coming = page.waitForEvent('download');
    await page.keyboard.press('Control+e');
    const zip = await readFile(await (await coming).path());
    await page.evaluate(() => { location.hash = '#saxe/standard?executor=cpu&ensemble.members=4'; });
    await playing(page);
    await drop(page, 'run.zip', zip);
    await page.waitForTimeout(1000);
    assert.equal((await exported(page)).spec.ensemble.members, 2);
    await shot(page, 'lab-dropped');
    await drop(page, 'noise.zip', Uint8Array.of(80, 75, 3, 4, 1, 2, 3));
    await page.waitForTimeout(500);
    await shot(page, 'lab-dropped-noise');
  });
});

test('a hidden tab goes on', async () => {
  await lab(without, '#saxe/standard?executor=cpu', async (page) => {
    await playing(page);
    const from = await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { get: () => true, configurable: true });
      globalThis.requestAnimationFrame = () => 0;
      document.dispatchEvent(new Event('visibilitychange'));
      return Number.parseInt(document.title, 10);
    });
    await page.waitForTimeout(4000);
    assert.ok((await percent(page)) > from + 10, 'it stood still');
  });
});
