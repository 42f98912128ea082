// Chromium, and what a page must not do in it: write to the console, or ask
// another host for anything.

import assert from 'node:assert/strict';
import path from 'node:path';

import {chromium} from 'playwright-core';

export function startBrowser() {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** A tab of its own, with nothing from earlier ones. */
export async function openPage(browser, url, options = {}) {
  const context = await browser.newContext(
      {viewport: {width: 1280, height: 900}, ...options});
  const page = await context.newPage();
  page.problems = [];
  page.on('console', (message) => page.problems.push(message.text()));
  page.on('pageerror', (error) => page.problems.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) page.problems.push(request.url());
  });
  page.on('dialog', (dialog) => page.problems.push(dialog.message()));
  await page.goto(url);
  return page;
}

/** Ends the tab; `expected`: what the console says of answers that are errors. */
export async function closePage(page, expected = /^$/) {
  await page.context().close();
  assert.deepEqual(page.problems.filter((text) => !expected.test(text)), []);
}

export function screenshot(page, name) {
  return page.screenshot({
    path: path.join(process.env.ATTEND_SCREENSHOTS, `${name}.png`),
    fullPage: true,
  });
}
