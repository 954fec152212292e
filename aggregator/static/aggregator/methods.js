// Opens the section of the methods that a link names, below the link.
// Without scripts, or if the section cannot be loaded, the link leads to its chapter.

/** @type {WeakMap<Element, HTMLElement>} */
const opened = new WeakMap();
/** @type {WeakSet<Element>} */
const loading = new WeakSet();
let count = 0;

/** @param {Element} link  @param {HTMLElement | null} section */
const describe = (link, section) => {
  link.setAttribute("aria-expanded", String(section !== null));
  if (section) link.setAttribute("aria-controls", section.id);
  else link.removeAttribute("aria-controls");
};

/** @param {ParentNode} part */
const markLinks = (part) => {
  for (const link of part.querySelectorAll("a.method:not([aria-expanded])")) describe(link, null);
};

/**
 * The browser parses the page as a document: the policy of most pages forbids HTML from strings.
 * @param {string} address
 * @returns {Promise<Document>}
 */
const load = (address) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.addEventListener("load", () => {
      if (request.status === 200 && request.response) resolve(request.response);
      else reject(new Error(String(request.status)));
    });
    request.addEventListener("error", () => reject(new Error("no connection")));
    request.send();
  });

/** @param {Document} page  @param {() => void} close */
const build = (page, close) => {
  const section = document.createElement("section");
  count += 1;
  section.id = `method-${count}`;
  section.className = "method-section";
  section.tabIndex = -1;
  const title = document.createElement("p");
  title.className = "method-title";
  title.id = `${section.id}-title`;
  title.textContent = page.title;
  section.setAttribute("aria-labelledby", title.id);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button button-quiet button-small";
  button.textContent = "Close";
  button.addEventListener("click", close);
  const head = document.createElement("div");
  head.className = "method-head";
  head.append(title, button);
  section.append(head);
  for (const child of page.querySelector("main")?.children ?? []) {
    section.append(document.importNode(child, true));
  }
  // The same section may be open twice.
  for (const each of section.querySelectorAll(".prose [id]")) each.removeAttribute("id");
  return section;
};

/**
 * A section is as wide as the text around the link, so it is never inside a table or a list
 * of facts, but below it.
 * @param {Element} link  @param {HTMLElement} section
 */
const place = (link, section) => {
  const box = link.closest(".table-wrap") ?? link.closest("table, dl") ??
    link.closest("p, li, h2, h3, h4, summary, figure") ?? link;
  if (box.tagName === "LI") box.append(section);
  else box.after(section);
};

/** @param {HTMLAnchorElement} link */
const open = async (link) => {
  const { pathname, hash } = new URL(link.href);
  if (loading.has(link)) return;
  loading.add(link);
  try {
    const folder = pathname.slice(0, pathname.lastIndexOf("/"));
    const page = await load(`${folder}/paragraph/${hash.slice(1)}`);
    const section = build(page, () => close(link, section));
    opened.set(link, section);
    place(link, section);
    describe(link, section);
    section.focus({ preventScroll: true });
    section.scrollIntoView({ block: "nearest" });
  } catch {
    location.assign(link.href);
  } finally {
    loading.delete(link);
  }
};

/** @param {HTMLAnchorElement} link  @param {HTMLElement} section */
const close = (link, section) => {
  section.remove();
  opened.delete(link);
  describe(link, null);
  link.focus();
};

// One listener for the whole page also serves links in panels that htmx inserts later.
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a.method") : null;
  const isPlain = event.button === 0 &&
    !(event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (!(link instanceof HTMLAnchorElement) || !link.hash || !isPlain) return;
  event.preventDefault();
  const section = opened.get(link);
  if (section?.isConnected) close(link, section);
  else open(link);
});

document.addEventListener("keydown", (event) => {
  const section = event.target instanceof Element ? event.target.closest(".method-section") : null;
  if (event.key === "Escape") section?.querySelector("button")?.click();
});

markLinks(document);
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) if (node instanceof Element) markLinks(node.parentNode ?? node);
  }
}).observe(document.body, { childList: true, subtree: true });
