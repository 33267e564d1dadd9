// The page is complete without this script, which adds what a page alone cannot do:
// search, sorting, keys. It makes no markup out of text: text goes into
// text nodes.
"use strict";
(() => {
	const $ = (q, from = document) => from.querySelector(q);
	const $$ = (q, from = document) => [...from.querySelectorAll(q)];
	const root = document.documentElement;
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
	const theme = (value) => {
		if (value !== "dark" && value !== "light") return;
		root.dataset.theme = value;
	};
	theme(remembered());
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
		const act = {
			"/": () => list && (list.input.focus(), list.input.select()),
			j: () => step(1), k: () => step(-1), t: toggleTheme, "?": toggleHelp,
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
