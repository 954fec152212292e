// Leads from the page of one question to the editor, with that question in place. Without scripts,
// the page stays, and so it does if it answers a form that was sent without them.

const found = /^(.*\/questions)\/(?:new|\d+\/edit)$/.exec(location.pathname);
if (found && !document.querySelector(".error-summary, #merge, #cost[autofocus]")) {
  location.replace(`${found[1]}#${location.pathname}${location.search}`);
}
