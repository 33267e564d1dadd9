// The page is complete without this script, which adds what a page alone cannot do:
// zoom, search, sorting, keys. It makes no markup out of text: text goes into
// text nodes.
"use strict";
(() => {
	const $ = (q, from = document) => from.querySelector(q);
	const $$ = (q, from = document) => [...from.querySelectorAll(q)];
	const root = document.documentElement;
	const dispositions = ["blocking", "advisory", "ignore"];
	const words = { blocking: "blocking", advisory: "advisory", ignore: "ignored" };
	const number = new Intl.NumberFormat("en-US").format;
	const element = (name, className, text) => {
		const e = document.createElement(name);
		if (className) e.className = className;
		if (text) e.textContent = text;
		return e;
	};

	// Dark and light. A page from a file may have no storage.
	const remembered = (value) => {
		try {
			if (value) localStorage.setItem("heed.theme", value);
			return localStorage.getItem("heed.theme");
		} catch {
			return null;
		}
	};
	const dark = matchMedia("(prefers-color-scheme: dark)");
	const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
	const charts = [];
	const recolor = () => charts.forEach((c) => c.redraw());
	const theme = (value) => {
		if (value !== "dark" && value !== "light") return;
		root.dataset.theme = value;
		recolor();
	};
	theme(remembered());
	dark.addEventListener("change", recolor);
	const toggleTheme = () => {
		const other = isDark() ? "light" : "dark";
		remembered(other);
		theme(other);
	};
	$(".tools").hidden = false;
	$("#theme").addEventListener("click", toggleTheme);
	const help = $("#help");
	const toggleHelp = () => (help.open ? help.close() : help.showModal());
	$("#keys").addEventListener("click", toggleHelp);

	// The timeline: areas upon each other.
	const chart = (section, data) => {
		const box = $(".chart", section);
		if (!box || data.x.length < 2) return null;
		const color = (name) => getComputedStyle(root).getPropertyValue(name).trim();
		const shown = { blocking: true, advisory: true, ignore: true };
		const n = data.x.length - 1;
		// Without a clock, stretches are equally long in records: what differs is the share.
		const total = data.x.map((_, i) => (data.clock || i >= n ? 1 : Math.max(1, data.blocking[i] + data.advisory[i] + data.ignore[i]) / 100));
		const stacked = () => {
			const sum = new Array(n + 1).fill(0);
			const by = {};
			for (const d of dispositions) {
				by[d] = sum.map((before, i) => (sum[i] = before + (shown[d] ? data[d][Math.min(i, n - 1)] / total[Math.min(i, n - 1)] : 0)));
			}
			return [data.x, by.ignore, by.advisory, by.blocking]; // the highest is drawn first
		};
		const utc = (ts) => uPlot.tzDate(new Date(ts * 1e3), "Etc/UTC");
		const clock = (x, step) => {
			const iso = new Date(x * 1e3).toISOString();
			if (step >= 86400) return iso.slice(0, 10);
			return step >= 60 ? iso.slice(11, 16) : step >= 1 ? iso.slice(11, 19) : iso.slice(11, 23);
		};
		const text = (x) => new Date(x * 1e3).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
		const readout = element("p", "readout");
		const series = (name) => ({
			label: name, width: 0, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }), fill: () => color("--area-" + name),
		});
		const axis = (more) => ({ stroke: () => color("--soft"), grid: { stroke: () => color("--line"), width: 1 }, ticks: { stroke: () => color("--line") }, font: "12px system-ui, sans-serif", ...more });
		const say = (u) => {
			const i = u.cursor.idx;
			if (i === null || i === undefined || i >= n) {
				readout.textContent = "";
				return;
			}
			const counts = dispositions.map((d) => data[d][i]);
			const records = counts.reduce((sum, n) => sum + n, 0);
			const range = records > 1 ? "records " + number(data.x[i]) + " to " + number(data.x[i] + records - 1) : "record " + number(data.x[i]);
			readout.textContent = (data.clock ? text(data.x[i]) : range) + ", from line " + number(data.line[i]) + ": " + dispositions.map((d, j) => number(counts[j]) + " " + words[d]).join(", ");
		};
		box.hidden = false;
		const u = new uPlot({
			width: Math.max(box.clientWidth, 200), height: 240, padding: [6, 20, 0, 0], legend: { show: false }, tzDate: utc,
			cursor: { y: false, drag: { x: true, y: false } },
			scales: { x: { time: data.clock }, y: { range: (_, __, max) => [0, data.clock ? Math.max(max, 1) : 100] } },
			axes: [axis({ size: 34, space: data.clock ? 90 : 50, values: (_, v) => v.map((x) => (data.clock ? clock(x, v[1] - v[0]) : Number.isInteger(x) ? number(x) : "")) }), axis({ size: 56, values: (_, v) => v.map((y) => (Number.isInteger(y) ? number(y) + (data.clock ? "" : "%") : "")) })],
			series: [{}, series("ignore"), series("advisory"), series("blocking")],
			hooks: { setCursor: [say] },
		}, stacked(), box);
		for (const what of $$(".sketch, .scale", section)) what.remove();
		box.after(readout);
		new ResizeObserver(() => u.setSize({ width: Math.max(box.clientWidth, 200), height: 240 })).observe(box);

		const zoom = (factor) => {
			const { min, max } = u.scales.x;
			const [first, last] = [data.x[0], data.x[n]];
			const at = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, "x") : (min + max) / 2;
			const half = ((max - min) * factor) / 2;
			if (factor === 0 || 2 * half >= last - first) u.setScale("x", { min: first, max: last });
			else u.setScale("x", { min: Math.max(first, at - half), max: Math.min(last, at + half) });
		};
		const pan = (by) => {
			const { min, max } = u.scales.x;
			const step = Math.min(Math.max((max - min) * by, data.x[0] - min), data.x[n] - max);
			u.setScale("x", { min: min + step, max: max + step });
		};
		const legend = $(".legend", section);
		for (const old of $$(".key", legend)) {
			const d = dispositions.find((name) => old.classList.contains(name));
			const b = element("button", old.className, old.textContent);
			b.type = "button";
			b.setAttribute("aria-pressed", "true");
			b.addEventListener("click", () => {
				shown[d] = !shown[d];
				b.setAttribute("aria-pressed", String(shown[d]));
				u.setData(stacked(), false);
				u.redraw();
			});
			old.replaceWith(b);
		}
		$(".help", legend).textContent = (data.clock ? "entries in each interval" : "share of the records in each interval") + "; drag to zoom";
		const buttons = element("span", "zoom");
		for (const [label, title, act] of [["◀", "Earlier", () => pan(-0.5)], ["▶", "Later", () => pan(0.5)], ["−", "Zoom out", () => zoom(2)], ["+", "Zoom in", () => zoom(0.5)], ["All", "All of the log", () => zoom(0)]]) {
			const b = element("button", "", label);
			b.type = "button";
			b.title = title;
			b.setAttribute("aria-label", title);
			b.addEventListener("click", act);
			buttons.append(b);
		}
		legend.append(buttons);
		charts.push({ redraw: () => u.redraw(), zoom, plot: u });
		return u;
	};
	const logs = $$("article.log");
	JSON.parse($("#data").textContent).forEach((data, i) => chart(logs[i], data));

	// A search in rows: shows those that have all words and are wanted, and how many.
	const search = (form, rows, wanted = () => true) => {
		const words = $("input[type=search]", form).value.toLowerCase().split(/\s+/).filter(Boolean);
		let visible = 0;
		for (const r of rows) {
			r.node.hidden = !wanted(r) || !words.every((w) => r.text.includes(w));
			visible += !r.node.hidden;
		}
		$("output", form).textContent = visible === rows.length ? "" : visible === 0 ? "nothing matches" : visible + " of " + rows.length + " shown";
	};

	// Groups: search, disposition, order. j and k go through those that are shown.
	const lists = $$(".groups").map((section) => {
		const form = $(".filter", section);
		const input = $("input[type=search]", form);
		const select = $("select", form);
		const list = $(".list", section);
		const rows = $$(".group", list).map((node, order) => ({
			node, order, text: node.textContent.toLowerCase(), disposition: node.dataset.disposition,
			count: +node.dataset.count, first: +node.dataset.first, last: +node.dataset.last, title: $(".template", node).textContent,
		}));
		const orders = {
			weight: (a, b) => a.order - b.order,
			count: (a, b) => b.count - a.count || a.order - b.order,
			first: (a, b) => a.first - b.first || a.order - b.order,
			last: (a, b) => b.last - a.last || a.order - b.order,
			text: (a, b) => a.title.localeCompare(b.title) || a.order - b.order,
		};
		const filter = () => {
			const wanted = new Set($$("input[type=checkbox]:checked", form).map((c) => c.value));
			search(form, rows, (r) => wanted.has(r.disposition));
		};
		const sort = () => list.append(...rows.sort(orders[select.value]).map((r) => r.node));
		form.hidden = false;
		form.addEventListener("submit", (e) => {
			e.preventDefault();
			const found = rows.find((r) => !r.node.hidden);
			if (found) found.node.firstElementChild.focus();
		});
		form.addEventListener("input", filter);
		select.addEventListener("change", sort);
		const showAll = () => {
			input.value = "";
			for (const c of $$("input[type=checkbox]", form)) c.checked = true;
			filter();
		};
		return { section, input, rows, showAll };
	});
	// A link to a group has to find it, also where it is closed or filtered out.
	const reveal = () => {
		const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
		const group = target && target.closest(".group");
		if (!group) return;
		if (group.hidden) lists.find((l) => l.section.contains(group)).showAll();
		group.open = true;
		target.scrollIntoView();
		group.firstElementChild.focus({ preventScroll: true });
	};
	addEventListener("hashchange", reveal);
	reveal();
	const here = (items, nodeOf) => items.find((x) => nodeOf(x).getBoundingClientRect().bottom > innerHeight / 3) || items[items.length - 1];
	const step = (by) => {
		const summaries = lists.flatMap((l) => l.rows.filter((r) => !r.node.hidden).map((r) => r.node.firstElementChild));
		if (summaries.length === 0) return;
		const at = summaries.indexOf(document.activeElement);
		const next = summaries[at < 0 ? 0 : Math.min(Math.max(at + by, 0), summaries.length - 1)];
		next.focus();
		next.scrollIntoView({ block: "nearest" });
	};
	addEventListener("keydown", (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
		const field = e.target.closest && e.target.closest("input, select, textarea");
		if (e.key === "Escape" && field) {
			e.preventDefault(); // browsers would empty the search, and keep what it found
			return field.blur();
		}
		if (field || help.open) return;
		const list = lists.length && here(lists, (l) => l.section);
		const chartHere = charts.length && (charts.length === 1 ? charts[0] : here(charts, (c) => c.plot.root));
		const act = {
			"/": () => list && (list.input.focus(), list.input.select()),
			j: () => step(1), k: () => step(-1), t: toggleTheme, "?": toggleHelp,
			"+": () => chartHere && chartHere.zoom(0.5), "-": () => chartHere && chartHere.zoom(2), 0: () => chartHere && chartHere.zoom(0),
		}[e.key];
		if (!act) return;
		e.preventDefault();
		act();
	});

	// Mods: search in the list.
	for (const list of $$(".mods")) {
		const form = $(".find", list);
		const rows = $$("tbody tr", list).map((node) => ({ node, text: node.textContent.toLowerCase() }));
		form.hidden = rows.length < 10;
		form.addEventListener("submit", (e) => e.preventDefault());
		form.addEventListener("input", () => search(form, rows));
	}

	// Copies as Markdown, which stand in templates. Where a browser keeps the clipboard
	// to itself, the text is shown and selected instead.
	for (const source of $$("template.copy")) {
		const box = element("div", "copy");
		const label = source.dataset.copy;
		const button = element("button", "", label);
		button.type = "button";
		button.setAttribute("aria-live", "polite");
		const say = (text) => {
			button.textContent = text;
			setTimeout(() => (button.textContent = label), 2500);
		};
		const show = (text) => {
			const area = $("textarea", box) || box.appendChild(element("textarea"));
			area.readOnly = true;
			area.value = text;
			area.setAttribute("aria-label", "The text to copy");
			area.focus();
			area.select();
			area.scrollTop = 0;
			let copied = false;
			try {
				copied = document.execCommand("copy");
			} catch {}
			if (copied) {
				area.remove();
				button.focus();
			}
			say(copied ? source.dataset.copied : source.dataset.selected);
		};
		button.addEventListener("click", async () => {
			const text = source.content.textContent;
			try {
				await navigator.clipboard.writeText(text);
				say(source.dataset.copied);
			} catch {
				show(text);
			}
		});
		box.append(button);
		source.replaceWith(box);
	}

	// On paper nothing can be opened. Groups stay closed: they are a book.
	let closed = [];
	addEventListener("beforeprint", () => {
		closed = $$(".cause:not([open])");
		for (const d of closed) d.open = true;
	});
	addEventListener("afterprint", () => {
		for (const d of closed) d.open = false;
	});
})();
