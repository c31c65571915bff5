"use strict";
(() => {
  // The numbers behind a figure are in its download link: the pointer shows them.
  const tip = document.createElement("div");
  tip.id = "tip";
  document.body.append(tip);
  const tables = new WeakMap();

  const cells = (line) => {
    const found = [];
    for (const match of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g))
      found.push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'));
    return found;
  };
  const read = (figure) => {
    if (!tables.has(figure)) {
      const link = figure.querySelector("a[download]").getAttribute("href");
      const text = decodeURIComponent(link.slice(link.indexOf(",") + 1));
      const lines = text.split("\n").filter((line) => line !== "").map(cells);
      tables.set(figure, { names: lines[0], rows: lines.slice(1) });
    }
    return tables.get(figure);
  };
  const scale = (svg, axis) => {
    const [low, high, from, to, log] = svg.dataset[axis].split(" ").map(Number);
    const at = log ? Math.log : (value) => value;
    return (value) => from + ((at(value) - at(low)) / (at(high) - at(low))) * (to - from);
  };
  const hide = () => {
    tip.style.display = "none";
    document.querySelectorAll(".cross").forEach((line) => line.remove());
  };

  const show = (event, figure) => {
    const svg = figure.querySelector("svg");
    const here = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const { names, rows } = read(figure);
    const x = scale(svg, "x");
    const y = figure.dataset.hover === "point" ? scale(svg, "y") : null;
    let best = null;
    let least = y ? 24 : 60;
    for (const row of rows) {
      if (row[0] === "" || (y && row[1] === "")) continue;
      const across = x(Number(row[0])) - here.x;
      const distance = y ? Math.hypot(across, y(Number(row[1])) - here.y) : Math.abs(across);
      if (distance < least) [best, least] = [row, distance];
    }
    hide();
    if (!best) return;
    const shown = names.map((name, i) => [name, best[i]]).filter((pair) => pair[1]);
    tip.textContent = shown.map(([name, value]) => name + ": " + value).join("\n");
    tip.style.display = "block";
    const left = event.pageX + 14;
    const most = document.documentElement.clientWidth - tip.offsetWidth - 6;
    tip.style.left = Math.max(4, Math.min(left, most)) + "px";
    tip.style.top = event.pageY + 16 + "px";
    const place = x(Number(best[0]));
    const inner = svg.querySelector("svg");
    const line = document.createElementNS(svg.namespaceURI, "line");
    const box = ["y", "height"].map((name) => Number(inner.getAttribute(name)));
    for (const [name, value] of [["x1", place], ["x2", place], ["y1", box[0]], ["y2", box[0] + box[1]]])
      line.setAttribute(name, value);
    line.setAttribute("class", "cross");
    line.setAttribute("stroke", "var(--muted)");
    inner.append(line);
  };

  for (const figure of document.querySelectorAll("figure[data-hover]")) {
    const svg = figure.querySelector("svg");
    svg.addEventListener("pointermove", (event) => show(event, figure));
    svg.addEventListener("pointerdown", (event) => show(event, figure));
    svg.addEventListener("pointerleave", hide);
  }
})();
