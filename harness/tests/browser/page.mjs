// Opens a report of `run --wrong end-is-success` in a headless Chromium: it opens, filters, expands, moves by keyboard,
// and neither complains nor asks a network for anything. `.ci/run` installs the browser, by package, and calls this.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { createRequire } from "node:module";

const [, , modules, page] = process.argv;
const from = createRequire(pathToFileURL(modules + "/"));
const chromium = (await import(pathToFileURL(from.resolve("@sparticuz/chromium")))).default;
const puppeteer = (await import(pathToFileURL(from.resolve("puppeteer-core")))).default;

const browser = await puppeteer.launch({
  executablePath: await chromium.executablePath(),
  args: chromium.args,
  headless: "shell",
});
try {
  const tab = await browser.newPage();
  const complaints = [];
  tab.on("console", (message) => complaints.push(message.text()));
  tab.on("pageerror", (error) => complaints.push(String(error)));
  tab.on("dialog", (dialog) => { complaints.push("dialog " + dialog.message()); dialog.dismiss(); });
  tab.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) complaints.push("asks for " + request.url());
  });
  await tab.goto(pathToFileURL(page).href);
  const count = (selector) => tab.$$eval(selector, (found) => found.length);
  const shown = () => tab.$eval("#shown", (node) => node.textContent);

  assert.match(await tab.$eval("#verdict p", (node) => node.textContent), /does not conform/);
  assert.ok((await count("#matrix tr.area")) > 5, "the matrix has areas");
  assert.ok((await count("#matrix tr.req:not([hidden]) .n.failed")) > 0, "what is broken is unfolded");
  const failed = await count("details.case");
  assert.equal(failed, await count("details.case.failed"), "at first only failures are shown");
  assert.ok(failed > 10);

  // The first failure is open, with its diagram: a request, a fault, and where they part.
  const first = "details.case[open]:first-child ";
  for (const part of [".wire.out", ".row.wrong"]) assert.ok((await count(first + part)) > 0, part);
  assert.ok((await count(first + ".fault")) > 0, "a fault");

  // Everything, then words, then nothing again.
  await tab.keyboard.press("a");
  const all = await count("details.case");
  assert.ok(all > 500, "all cases: " + all);
  await tab.keyboard.press("/");
  await tab.keyboard.type("healthy-follow");
  const found = await count("details.case");
  assert.ok(found > 0 && found < all, await shown());
  await tab.keyboard.press("Escape");
  assert.equal(await count("details.case"), all);

  // By keyboard to a case, and open.
  await tab.keyboard.press("f");
  await tab.keyboard.press("j");
  await tab.keyboard.press("j");
  await tab.keyboard.press("Enter");
  await tab.waitForSelector("details.case.at[open] .seq .row");
  // A requirement of the matrix filters.
  await tab.$eval("#matrix tr.req:not([hidden]) td button", (button) => button.click());
  assert.match(await shown(), / about /);
  const theme = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await theme();
  await tab.click("#theme");
  assert.notEqual(await theme(), before);
  assert.deepEqual(complaints, []);
  console.log(`the page opens, filters and expands: ${all} cases, ${failed} failed`);
} finally {
  await browser.close();
}
