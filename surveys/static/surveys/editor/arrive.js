// Redirects from the page of one question to the editor, with that question open. Without scripts,
// or in reply to a form that was sent without scripts, the page stays.

const found = /^(.*\/questions)\/(?:new|\d+\/edit)$/.exec(location.pathname);
if (found && !document.querySelector(".error-summary, #merge, #cost[autofocus]")) {
  location.replace(`${found[1]}#${location.pathname}${location.search}`);
}
