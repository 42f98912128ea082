// The page as its users have it. See run.sh.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';

import {closePage, openPage, screenshot, startBrowser} from './browser.mjs';
import {serve} from './server.mjs';

const AXE = readFileSync(
    createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TRANSLATOR = {'en-de': process.env.ATTEND_TRANSLATOR};
const REFUSED = /the server responded with a status of (400|401)/;

let browser, server;

before(async () => {
  browser = await startBrowser();
  server = await serve({
    ...TRANSLATOR, chat: process.env.ATTEND_CHAT,
    encoder: process.env.ATTEND_ENCODER,
  });
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

const panel = (page) => page.getByRole('tabpanel');
const start = (page, name) =>
    panel(page).getByRole('button', {name, exact: true}).click();
const done = (page, text) =>
    panel(page).getByRole('status').filter({hasText: text}).waitFor();

/** What is wrong for those who cannot see all, or not well. */
async function violations(page) {
  await page.evaluate(AXE);
  const {violations: found} = await page.evaluate(() => axe.run());
  return found.map(({id, nodes}) => `${id}: ${nodes[0].html}`);
}

test('models, the server and charts are shown', async () => {
  const page = await openPage(browser, server.url);
  await page.getByText('ready, the default').waitFor();
  assert.deepEqual(await page.locator('.card h3').allTextContents(),
                   ['en-de', 'chat', 'encoder']);
  await page.getByText(/version .* threads/).waitFor();
  await start(page, 'Translate');
  await done(page, 'generated');
  await page.getByRole('img', {name: /Tokens a second: generated [\d.]*[1-9]/})
      .locator('.line0[d*="L"]').waitFor({state: 'attached'});
  await closePage(page);
});

test('translations show what each word was made from', async () => {
  const page = await openPage(browser, server.url);
  await panel(page).getByLabel('Text', {exact: true}).fill('Two dogs are playing.');
  await start(page, 'Translate');
  await page.getByRole('option', {name: 'Hunde'}).hover();
  assert.deepEqual(await page.locator('.marked').allTextContents(),
                   ['dogs', 'Hunde']);
  assert.equal(await page.locator('.links path').count(), 1);
  assert.deepEqual(await violations(page), []);
  await screenshot(page, 'light');
  await closePage(page);
});

test('vectors of like texts are alike', async () => {
  const page = await openPage(browser, server.url, {colorScheme: 'dark'});
  await page.getByRole('tab', {name: 'Similarity'}).click();
  await start(page, 'Compare');
  await done(page, '4 vectors of 384 numbers');
  const rows = page.getByRole('row');
  const [, alike, other] =
      await rows.nth(1).getByRole('cell').allTextContents();
  assert.ok(Number(alike) > Number(other) + 0.3, `${alike} ${other}`);
  assert.deepEqual(await violations(page), []);
  await screenshot(page, 'dark');
  await closePage(page);
});

test('the theme that the user has chosen stays', async () => {
  const page = await openPage(browser, server.url);
  const ground = () => page.evaluate(
      () => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole('button', {name: 'Dark'}).click();
  const dark = await ground();
  assert.notEqual(dark, light);
  await page.reload();
  assert.equal(await ground(), dark);
  await closePage(page);
});

/** The names of what Tab goes to, in order. All must show that they have it. */
async function walk(page) {
  const names = [];
  while (names.at(-1) !== 'attend.proto') {
    await page.keyboard.press('Tab');
    const {name, outline} = await page.evaluate(() => {
      const {activeElement: at} = document;
      return {
        name: at.labels?.[0]?.firstChild.textContent.trim() ||
            at.ariaLabel || at.textContent.trim(),
        outline: getComputedStyle(at).outlineStyle,
      };
    });
    assert.equal(outline, 'solid', name);
    assert.ok(names.length < 20, names);
    names.push(name);
  }
  return names;
}

test('everything is done by the keyboard, on a narrow screen', async () => {
  const page = await openPage(
      browser, server.url, {viewport: {width: 360, height: 740}});
  await page.getByRole('tab', {name: 'Chat'}).waitFor();
  assert.deepEqual(await walk(page), [
    'Skip to the playground', 'Keys', 'Dark', 'Model', 'Translate', 'Text',
    'Options', 'Translate', 'The same as a command', 'Metrics', 'OpenAPI',
    'attend.proto',
  ]);
  await page.reload();
  await page.getByRole('tab', {name: 'Chat'}).waitFor();
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await press('Tab', 'Enter', 'Tab', 'ArrowRight');  // skip, tabs, Chat
  await press('Tab', 'Tab', 'Enter', 'Tab');         // message, options, length
  await page.keyboard.type('4');
  await press('Shift+Tab', 'Shift+Tab', 'Control+A');
  await page.keyboard.type('Name a colour.');
  await press('Enter');
  await done(page, '4 generated');
  const said = page.locator('.message p');
  assert.equal(await said.first().textContent(), 'Name a colour.');
  assert.notEqual(await said.last().textContent(), '');
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth),
               360);
  await screenshot(page, 'narrow');
  await closePage(page);
});

test('errors are shown as the server says them', async () => {
  const page = await openPage(browser, server.url);
  await panel(page).getByText('Options').click();
  await panel(page).getByLabel('Beams').fill('99');
  await start(page, 'Translate');
  await panel(page).getByRole('alert').filter({
    hasText: 'invalid_argument: params.num_beams is 99, must be in [1, 32]',
  }).waitFor();
  await screenshot(page, 'error');
  await closePage(page, REFUSED);
});

test('the command asks for the same', async () => {
  const page = await openPage(browser, server.url);
  await panel(page).getByLabel('Text', {exact: true}).fill('It\'s "snow".');
  await start(page, 'Translate');
  await panel(page).getByText('The same as a command').click();
  const command = await panel(page).getByLabel('Command').textContent();
  const answer = JSON.parse(
      execFileSync('sh', ['-c', `${command} --silent`], {encoding: 'utf8'}));
  assert.equal(await page.locator('.translation').textContent(),
               answer.results[0].text);
  await closePage(page);
});

test('what a server or a model says is text', async () => {
  const page = await openPage(browser, server.url);
  const bad = '<img src=x onerror="alert(1)"><iframe>';
  const answers = {
    ListModels: {models: [{
      name: bad, family: bad, dtype: bad, ready: true, error: bad,
      tasks: ['TASK_GENERATE', 'TASK_EMBED', bad], maxTargetTokens: 1, maxBeams: 1,
    }]},
    Translate: {results: [{
      text: bad,
      sentences: [{
        text: bad, sourceTokens: [{piece: bad, begin: 0, end: 9}],
        choice: {text: bad, alignment: {source: [0]},
                 logProbs: [{token: {piece: bad}}]},
      }],
    }]},
  };
  for (const [method, json] of Object.entries(answers)) {
    await page.route(`**/attend.v1.Attend/${method}`,
                     (route) => route.fulfill({json}));
  }
  await page.reload();
  await page.getByRole('heading', {name: bad}).waitFor();
  await start(page, 'Translate');
  await page.getByRole('listbox').filter({hasText: bad}).waitFor();
  assert.equal(await page.locator('img, iframe').count(), 0);
  await closePage(page);
});

test('a model that stops to be ready is shown so', async () => {
  const page = await openPage(browser, server.url);
  await page.getByText(/version .* threads/).waitFor();
  await page.route('**/ListModels', (route) => route.fulfill(
      {json: {models: [{name: 'en-de', family: 'marian', dtype: 'f32'}]}}));
  await page.route('**/metrics', (route) => route.fulfill(
      {body: 'attend_model_ready{model="en-de"} 0\n'}));
  await page.getByText('not ready').waitFor();
  await page.getByText('No model takes requests.').waitFor();
  await screenshot(page, 'not-ready');
  await closePage(page);
});

test('a server that wants keys is asked with one, which stays in the tab', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'attend-'));
  const tenants = path.join(folder, 'tenants.json');
  const hash = (key) => createHash('sha256').update(key).digest('hex');
  writeFileSync(tenants, JSON.stringify(
      {tenants: [{name: 'one', keys: [hash('secret')]}]}));
  const closed = await serve(TRANSLATOR, `--tenants=${tenants}`,
                             `--metrics-key-sha256=${hash('other')}`);
  t.after(closed.stop);
  rmSync(folder, {recursive: true});
  const page = await openPage(browser, closed.url);
  const give = async (calls, metrics) => {
    await page.getByLabel('Key of calls').fill(calls);
    await page.getByLabel('Key of metrics').fill(metrics);
    await page.getByRole('button', {name: 'Use'}).click();
  };
  await page.getByText('unauthenticated: the call has no key').waitFor();
  await give('wrong', 'wrong');
  await page.getByText('unauthenticated: the call\'s key is not known').waitFor();
  await screenshot(page, 'keys');
  await give('secret', 'other');
  await page.getByText('ready, the default').waitFor();
  await page.getByText(/version .* threads/).waitFor();
  const kept = await page.evaluate(() => JSON.stringify(localStorage));
  assert.doesNotMatch(kept, /secret|other/);
  await closePage(page, REFUSED);
});

test('a server that comes back is shown again; a hidden page asks nothing',
     async (t) => {
  const page = await openPage(browser, 'about:blank');
  await page.clock.install();
  const first = await serve(TRANSLATOR);
  await page.goto(first.url);
  await page.getByText('ready, the default').waitFor();
  await first.stop();
  await page.clock.runFor(1000);
  await page.getByText('The server does not answer.').waitFor();
  const second = await serve(TRANSLATOR, `--http-port=${first.port}`);
  t.after(second.stop);
  await page.clock.runFor(5000);
  await page.getByText('The server does not answer.').waitFor({state: 'hidden'});
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', {value: true});
    document.dispatchEvent(new Event('visibilitychange'));
  });
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.clock.runFor(60000);
  assert.deepEqual(asked, []);
  await page.context().close();
});

test('below a path of a proxy it is the same', async () => {
  const proxy = http.createServer((request, response) => {
    const {method, headers, url} = request;
    request.pipe(http.request(
        server.url + url.replace('/below/', ''), {method, headers}, (answer) => {
          response.writeHead(answer.statusCode, answer.headers);
          answer.pipe(response);
        }));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const page = await openPage(
      browser, `http://127.0.0.1:${proxy.address().port}/below/`);
  await start(page, 'Translate');
  await done(page, 'generated');
  await page.getByText(/version .* threads/).waitFor();
  await closePage(page);
  proxy.closeAllConnections();
  proxy.close();
});
