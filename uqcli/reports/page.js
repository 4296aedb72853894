(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";

  // Tables: a click on a header sorts the rows, a third click restores their order.
  const key = (row, column) => {
    const text = row.cells[column].textContent.trim();
    const number = text.replace(/,/g, "").match(/^(below |from |(?:raised )?score >= )?([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)/i);
    const ends = { always: -Infinity, never: Infinity };
    if (text in ends) return [0, ends[text], text];
    if (!number) return [text === "" || text === "-" ? 2 : 1, 0, text];
    return [0, number[1] === "below " ? Number(number[2]) - 1e-9 : Number(number[2]), text];
  };
  const compare = (a, b) => a[0] - b[0] || (a[1] === b[1] ? a[2].localeCompare(b[2]) : a[1] - b[1]);
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0], original = [...body.rows];
    for (const header of table.tHead.rows[0].cells) {
      if (header.tagName !== "TH") continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => {
        const order = { ascending: "descending", descending: "none" }[header.ariaSort] ?? "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        const rows = [...original];
        if (order !== "none") {
          header.ariaSort = order;
          const sign = order === "ascending" ? 1 : -1, column = header.cellIndex;
          rows.sort((a, b) => {
            const [first, second] = [key(a, column), key(b, column)];
            return first[0] === 2 || second[0] === 2 ? first[0] - second[0] : sign * compare(first, second);
          });
        }
        body.append(...rows);
      });
    }
  }

  // Figures: the value under the pointer, or of the area that the arrow keys reach.
  for (const picture of document.querySelectorAll("figure .picture")) {
    const areas = [...picture.querySelectorAll(".values rect")];
    if (!areas.length) continue;
    const output = picture.closest("figure").querySelector(".pointed");
    let current = -1;
    const show = (number) => {
      if (current >= 0) areas[current].classList.remove("on");
      current = number;
      if (number >= 0) areas[number].classList.add("on");
      output.value = number < 0 ? "" : areas[number].querySelector("title").textContent;
    };
    picture.tabIndex = 0;
    picture.addEventListener("pointermove", (event) => show(areas.indexOf(event.target.closest("rect"))));
    picture.addEventListener("pointerdown", (event) => show(areas.indexOf(event.target.closest("rect"))));
    picture.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && show(-1));
    picture.addEventListener("blur", () => show(-1));
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      show(Math.min(Math.max(current + step, 0), areas.length - 1));
    });
  }

  // The operating point.
  const section = document.getElementById("operating-point");
  if (section) {
    const data = JSON.parse(document.getElementById("operating-points").textContent);
    const by = section.querySelector("select"), slider = section.querySelector("input");
    const value = section.querySelector("output"), command = section.querySelector("code");
    const pictures = [...document.querySelectorAll("figure .picture[data-frames]")].map((picture) => ({
      svg: picture.querySelector("svg"), frames: JSON.parse(picture.dataset.frames), drawn: [],
    }));
    const percent = (share) => `${(100 * share).toFixed(1)} %`;
    const range = ([share, low, high]) =>
      share === null ? "-" : percent(share) + (low === null ? "" : ` [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`);
    const cells = (point) => point
      ? [`${point.alerts.toLocaleString("en")} (${percent(point.alerts / data.rows)})`, range(point.precision),
         range(point.recall), point.utility === null ? "" : Math.round(point.utility).toLocaleString("en")]
      : ["not reached", "", "", ""];
    const element = (name, attributes) => {
      const made = document.createElementNS(SVG, name);
      for (const [attribute, text] of Object.entries(attributes)) made.setAttribute(attribute, text);
      return made;
    };
    const place = ({ x, y, x_values, y_values }, across, up) => {
      const part = (at, [low, high]) => Math.min(Math.max((at - low) / (high - low), 0), 1);
      return [x[0] + (x[1] - x[0]) * part(across, x_values), y[0] + (y[1] - y[0]) * part(up, y_values)];
    };
    const shapes = ({ plane, curve }, point) => {
      if (curve) {
        const [cx, cy] = place(curve, point.recall[0], point.precision[0]);
        return [element("circle", { class: "chosen-point", cx, cy, r: 6 })];
      }
      const levels = Math.round(plane.y_values[1]), steps = [];
      for (let level = 0; level < levels; level += 1) {
        const threshold = point.thresholds[point.thresholds.length > 1 ? level : 0] ?? plane.x_values[1];
        steps.push(place(plane, threshold, level), place(plane, threshold, level + 1));
      }
      const d = `M${steps.map((ends) => ends.join(" ")).join("L")}`;
      return ["chosen-halo", "chosen-rule"].map((name) => element("path", { class: name, d }));
    };
    const show = () => {
      const { amount, option, rule, single } = data.families[by.value][slider.value];
      const number = Number.isNaN(Number(amount)) ? amount : Number(amount).toLocaleString("en");
      value.value = option[0] === "--max-selected" ? `at most ${number} alerts`
        : option[0] === "--precision" ? `target precision ${amount}` : option.join(" ").replaceAll("--", "");
      slider.setAttribute("aria-valuetext", value.value);
      for (const [name, point] of [["rule", rule], ["single", single]]) {
        const row = section.querySelector(`tr[data-point=${name}]`);
        if (row) cells(point).forEach((text, number) => { if (row.cells[number + 1]) row.cells[number + 1].textContent = text; });
      }
      command.textContent = [data.command[0], ...option, data.command[1]].filter(Boolean).join(" ");
      for (const picture of pictures) {
        picture.drawn.forEach((shape) => shape.remove());
        const isOwn = by.value === data.chosen[0] && Number(slider.value) === data.chosen[1];
        picture.drawn = isOwn ? [] : shapes(picture.frames, rule);
        const values = picture.svg.querySelector(".values");
        picture.drawn.forEach((shape) => picture.svg.insertBefore(shape, values));
      }
    };
    const choose = (position) => {
      slider.max = data.families[by.value].length - 1;
      slider.value = position;
      show();
    };
    const nearest = (alerts) => {
      const distances = data.families[by.value].map(({ rule }) => Math.abs(rule.alerts - alerts));
      return distances.indexOf(Math.min(...distances));
    };
    let shown = data.families[data.chosen[0]][data.chosen[1]].rule.alerts;
    by.value = data.chosen[0];
    by.addEventListener("change", () => choose(nearest(shown)));
    slider.addEventListener("input", () => {
      show();
      shown = data.families[by.value][slider.value].rule.alerts;
    });
    section.hidden = false;
    choose(data.chosen[1]);
  }

  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
})();
