// Open a page as readers do: on a phone and on a desk, in light and dark, with and without scripts.
//
//   cargo run -p posteria-report --example gallery -- page.html
//   node crates/posteria-report/tests/browser.mjs page.html [FOLDER for pictures]
//
// Needs Chromium and the package playwright-core; where either is missing it says so and ends with
// 0, so that machines without a browser are not kept from testing everything else.
import { existsSync, mkdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [page, pictures] = process.argv.slice(2);
if (!page) {
  console.error("usage: browser.mjs PAGE.html [FOLDER]");
  process.exit(2);
}
let chromium;
try {
  // From where it is run, not from where this file lies: the repository has no packages.
  ({ chromium } = createRequire(resolve("package.json"))("playwright-core"));
} catch {
  console.log("skipped: no playwright-core here (npm install playwright-core)");
  process.exit(0);
}
const browsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM ?? browsers.find((path) => existsSync(path));
if (!executablePath) {
  console.log("skipped: no Chromium here");
  process.exit(0);
}
if (pictures) mkdirSync(pictures, { recursive: true });

const failures = [];
const expect = (holds, what) => {
  if (!holds) failures.push(what);
};
const size = statSync(page).size;
expect(size < 6e6, `the page has ${size} bytes, more than 6 MB`);

const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"];
const browser = await chromium.launch({ executablePath, args });
for (const width of [400, 1400]) {
  for (const colorScheme of ["light", "dark"]) {
    const name = `${width}-${colorScheme}`;
    const viewport = { width, height: 900 };
    const context = await browser.newContext({ viewport, colorScheme });
    const tab = await context.newPage();
    const asked = [];
    tab.on("request", (request) => asked.push(request.url()));
    tab.on("console", (message) => {
      if (message.type() === "error") failures.push(`${name}: ${message.text()}`);
    });
    tab.on("pageerror", (error) => failures.push(`${name}: ${error}`));
    const started = Date.now();
    await tab.goto(pathToFileURL(resolve(page)).href);
    const seconds = (Date.now() - started) / 1000;
    console.log(`${name}: opened in ${seconds.toFixed(2)} s`);
    expect(seconds < 2, `${name}: took ${seconds} s to open`);
    expect(asked.length === 1, `${name}: asked for ${asked.slice(1)}`);
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
    expect(wide <= width, `${name}: the page is ${wide} wide`);
    const ground = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const brightness = ground.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 3;
    expect(brightness > 128 === (colorScheme === "light"), `${name}: the ground is ${ground}`);
    // Letters of axes stay readable.
    const letters = await tab.evaluate(() => {
      const text = document.querySelector("figure svg text");
      return text ? text.getBoundingClientRect().height : 99;
    });
    expect(letters >= 9, `${name}: letters are ${letters} pixels high`);
    const figure = tab.locator("figure[data-hover=row]").first();
    if (await figure.count()) {
      const box = await figure.locator("svg").first().boundingBox();
      await figure.scrollIntoViewIfNeeded();
      const svg = figure.locator("svg").first();
      await svg.hover({ position: { x: box.width / 2, y: box.height / 2 } });
      const tip = await tab.locator("#tip").textContent();
      expect(/: -?[\d.]/.test(tip), `${name}: the pointer shows "${tip}"`);
    }
    for (const link of await tab.locator("a[download]").all()) {
      const csv = decodeURIComponent((await link.getAttribute("href")).split(",").slice(1).join(","));
      expect(csv.split("\n").length > 2, `${name}: a table without rows`);
      if (width === 1400) break;
    }
    if (pictures) {
      await tab.mouse.move(0, 0);
      await tab.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
      const sections = await tab.locator("section").all();
      for (const [index, section] of sections.entries())
        await section.screenshot({ path: `${pictures}/${name}-section-${index}.png` });
    }
    await context.close();
  }
}
// Without scripts nothing but the pointer's box is missing.
const context = await browser.newContext({ javaScriptEnabled: false });
const tab = await context.newPage();
await tab.goto(pathToFileURL(resolve(page)).href);
expect((await tab.locator("figure svg").count()) > 0, "no figures without scripts");
if (pictures) await tab.pdf({ path: `${pictures}/print.pdf`, format: "A4" });
await browser.close();
failures.forEach((failure) => console.error(`failed: ${failure}`));
process.exit(failures.length ? 1 : 0);
