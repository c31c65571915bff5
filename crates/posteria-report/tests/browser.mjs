// Open pages as readers do: on a phone and on a desk, in light and dark, with and without scripts.
//
//   node crates/posteria-report/tests/browser.mjs [--pictures FOLDER] PAGE.html …
//
// Needs Node and Chromium, no packages: the browser is told what to do through a pipe. POSTERIA_CHROMIUM
// names the browser where it is not on the path.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const pages = process.argv.slice(2);
let pictures = null;
if (pages[0] === "--pictures") {
  pictures = pages[1];
  pages.splice(0, 2);
  mkdirSync(pictures, { recursive: true });
}
if (!pages.length) {
  console.error("usage: browser.mjs [--pictures FOLDER] PAGE.html …");
  process.exit(2);
}

const failures = [];
const expect = (holds, what) => {
  if (!holds) failures.push(what);
};

// The browser, and messages to and from it: JSON that ends in a zero.
const profile = mkdtempSync(join(tmpdir(), "posteria-browser-"));
const browser = spawn(
  process.env.POSTERIA_CHROMIUM || "chromium",
  ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", `--user-data-dir=${profile}`, "--remote-debugging-pipe", "about:blank"],
  { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] },
);
let said = "";
browser.stderr.on("data", (data) => (said = (said + data).slice(-2000)));
const waiting = new Map();
const listeners = new Set();
let number = 0;
let rest = Buffer.alloc(0);
browser.stdio[4].on("data", (data) => {
  rest = Buffer.concat([rest, data]);
  for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
    const message = JSON.parse(rest.subarray(0, end).toString());
    const answer = waiting.get(message.id);
    if (answer) {
      waiting.delete(message.id);
      if (message.error) answer.reject(new Error(message.error.message));
      else answer.resolve(message.result);
    } else listeners.forEach((listener) => listener(message));
  }
});
const leave = (code) => {
  browser.kill("SIGKILL");
  // The browser may still be writing there.
  setTimeout(() => {
    try {
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    } catch {}
    process.exit(code);
  }, 200);
};
const give_up = (why) => {
  console.error(`failed: ${why}\n${said}`);
  leave(1);
};
browser.on("error", (error) => give_up(`the browser does not start: ${error.message}`));
browser.on("exit", () => waiting.size && give_up("the browser ended"));
setTimeout(() => give_up("the browser takes more than four minutes"), 240_000).unref();
const send = (method, params = {}, sessionId = undefined) =>
  new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject });
    browser.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId }) + "\0");
  });

// What is wrong with the figures of a page; runs in the page.
const inspect = () => {
  const wrong = [];
  // What is folded away is looked at too.
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const told = (text) => (text.querySelector("tspan") ?? text).textContent;
  const figures = [...document.querySelectorAll("figure")];
  if (!figures.length) wrong.push("there are no figures");
  for (const figure of figures) {
    const title = figure.querySelector("h4")?.textContent.trim() ?? "";
    const say = (what) => wrong.push(`“${title}”: ${what}`);
    if (!title) say("has no title");
    const svg = figure.querySelector("svg");
    const box = svg.getBoundingClientRect();
    if (box.width < 150 || box.height < 60) say(`is ${box.width} × ${box.height}`);
    // Letters have 11.5 of its 440 units.
    const letters = (11.5 * box.width) / 440;
    if (letters < 8.5) say(`letters are ${letters.toFixed(1)} pixels high`);
    const marks = [...svg.querySelector("svg").children].filter((mark) => {
      const { width, height } = mark.getBBox();
      // Dots are lines without length; their colour is in the stroke.
      return width > 0 || height > 0 || mark.getAttribute("stroke-linecap") === "round";
    });
    if (!marks.length) say("is empty");
    const texts = [...svg.children].flatMap((child) =>
      child.tagName === "text" ? [child] : child.tagName === "g" ? [...child.querySelectorAll("text")] : []);
    const placed = texts.map((text) => [text, text.getBoundingClientRect()]);
    for (const [text, at] of placed) {
      const out = Math.max(box.left - at.left, at.right - box.right, box.top - at.top, at.bottom - box.bottom);
      if (out > 2) say(`“${told(text)}” sticks out by ${out.toFixed(1)} pixels`);
    }
    for (let i = 0; i < placed.length; i++)
      for (let j = 0; j < i; j++) {
        const [[one, a], [other, b]] = [placed[i], placed[j]];
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const up = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        // Boxes of letters are higher than the letters.
        if (across > 1 && up > 6) say(`“${told(one)}” lies on “${told(other)}”`);
      }
    const link = figure.querySelector("a[download]")?.getAttribute("href") ?? "";
    const csv = decodeURIComponent(link.slice(link.indexOf(",") + 1));
    if (csv.trim().split("\n").length < 2) say("has no table");
  }
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) wrong.push(`the page is ${wide} pixels wide, the screen ${innerWidth}`);
  const [entry] = performance.getEntriesByType("navigation");
  const ground = getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3);
  return {
    wrong,
    figures: figures.length,
    loaded: entry.loadEventEnd,
    isBright: ground.reduce((sum, part) => sum + Number(part), 0) > 384,
  };
};
// Where a figure shows numbers under the pointer; runs in the page.
const middle = () => {
  const svg = document.querySelector("figure[data-hover=row] svg");
  if (!svg) return null;
  svg.scrollIntoView({ block: "center" });
  const { left, top, width, height } = svg.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
};

/// Opens a page in a tab of its own, and gives what can be done with it.
const open = async (page, width, scheme, scripts) => {
  const { browserContextId } = await send("Target.createBrowserContext");
  const { targetId } = await send("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const tell = (method, params) => send(method, params, sessionId);
  const requests = [];
  const errors = [];
  let loaded;
  const isLoaded = new Promise((resolve) => (loaded = resolve));
  const listener = ({ method, params, sessionId: of }) => {
    if (of !== sessionId) return;
    if (method === "Network.requestWillBeSent") requests.push(params.request.url);
    if (method === "Runtime.exceptionThrown") errors.push(params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && params.type === "error")
      errors.push(params.args.map((it) => it.value ?? it.description).join(" "));
    if (method === "Log.entryAdded" && params.entry.level === "error") errors.push(params.entry.text);
    if (method === "Page.loadEventFired") loaded();
  };
  listeners.add(listener);
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await tell(`${domain}.enable`);
  await tell("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
  const features = [{ name: "prefers-color-scheme", value: scheme }];
  await tell("Emulation.setEmulatedMedia", { features });
  await tell("Emulation.setScriptExecutionDisabled", { value: !scripts });
  await tell("Page.navigate", { url: pathToFileURL(resolve(page)).href });
  await isLoaded;
  const run = async (code, ...values) => {
    const expression = `(${code})(${values.map((value) => JSON.stringify(value)).join()})`;
    const { result, exceptionDetails } = await tell("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const close = async () => {
    listeners.delete(listener);
    await send("Target.disposeBrowserContext", { browserContextId });
  };
  return { tell, run, requests, errors, close };
};

try {
  for (const page of pages) {
    const size = statSync(page).size;
    expect(size < 6e6, `${page}: ${size} bytes, more than 6 MB`);
    for (const width of [400, 1400])
      for (const scheme of ["light", "dark"]) {
        const name = `${basename(page)} at ${width} in ${scheme}`;
        const tab = await open(page, width, scheme, true);
        const found = await tab.run(inspect);
        found.wrong.forEach((what) => failures.push(`${name}: ${what}`));
        expect(found.isBright === (scheme === "light"), `${name}: the ground is of the other scheme`);
        const at = await tab.run(middle);
        if (at) {
          await tab.tell("Input.dispatchMouseEvent", { type: "mouseMoved", x: at[0], y: at[1] });
          const tip = await tab.run(() => document.querySelector("#tip").textContent);
          expect(/: -?[\d.]/.test(tip), `${name}: the pointer shows “${tip}”`);
          await tab.tell("Input.dispatchMouseEvent", { type: "mouseMoved", x: 0, y: 0 });
        }
        expect(tab.requests.length === 1, `${name}: asks for ${tab.requests.slice(1)}`);
        tab.errors.forEach((error) => failures.push(`${name}: ${error}`));
        const loaded = (found.loaded / 1000).toFixed(2);
        console.log(`${name}: ${found.figures} figures, ${(size / 1e6).toFixed(2)} MB, loaded in ${loaded} s`);
        if (pictures) {
          await tab.run(() => document.querySelectorAll("details").forEach((fold) => (fold.open = false)));
          const height = Math.min(await tab.run(() => document.documentElement.scrollHeight), 60000);
          for (let y = 0, part = 0; y < height; y += 2400, part++) {
            await tab.tell("Emulation.setDeviceMetricsOverride", { width, height: 2400, deviceScaleFactor: 1, mobile: false });
            await tab.run((y) => scrollTo(0, y), y);
            const { data } = await tab.tell("Page.captureScreenshot", { format: "png" });
            writeFileSync(join(pictures, `${basename(page, ".html")}-${width}-${scheme}-${part}.png`), data, "base64");
          }
        }
        await tab.close();
      }
    // Without scripts nothing but the pointer's box is missing.
    const tab = await open(page, 800, "light", false);
    const { root } = await tab.tell("DOM.getDocument", { depth: 0 });
    const { nodeIds } = await tab.tell("DOM.querySelectorAll", { nodeId: root.nodeId, selector: "figure svg" });
    expect(nodeIds.length > 0, `${page}: no figures without scripts`);
    if (pictures) {
      const { data } = await tab.tell("Page.printToPDF", { paperWidth: 8.27, paperHeight: 11.69 });
      writeFileSync(join(pictures, `${basename(page, ".html")}.pdf`), data, "base64");
    }
    await tab.close();
  }
} catch (error) {
  failures.push(`${error.stack}`);
}
failures.forEach((failure) => console.error(`failed: ${failure}`));
leave(failures.length ? 1 : 0);
