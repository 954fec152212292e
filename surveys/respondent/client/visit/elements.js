/** Makes the elements of the page. Words become text, never markup. */
import { say } from "./words.js";

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`);
  element.append(...children);
  return element;
}

/**
 * @template {HTMLElement} T
 * @param {T} element
 * @param {() => void} act
 */
export function onClick(element, act) {
  element.addEventListener("click", (event) => {
    event.preventDefault();
    act();
  });
  return element;
}

/**
 * @param {string} text
 * @param {() => void} act
 * @param {string} style
 */
export const makeLink = (text, act, style) =>
  onClick(make("a", { href: "#", class: style }, text), act);

/**
 * @param {string} text
 * @param {() => void} act
 */
export const makeButton = (text, act) =>
  onClick(make("button", { type: "button", class: "button" }, text), act);

/** Makes the link to the page before, which navigation.js shows. */
export const makeBack = () => makeLink(say("back"), () => dispatchEvent(new Event("back")), "back");

/**
 * @param {string} title The name of its words.
 * @param {...Node} nodes
 */
export const makeDetails = (title, ...nodes) =>
  make("details", {}, make("summary", {}, say(title)), ...nodes);

/**
 * Copies elements that the server wrote.
 * @param {string} selector
 * @param {ParentNode | null} [root]
 */
export const copyAll = (selector, root = document) =>
  [...(root?.querySelectorAll(selector) ?? [])].map((one) => one.cloneNode(true));
