/**
 * Hides what the page says if its script cannot run, until that is so: at once if a script is blocked,
 * missing or too new for this browser, and after ten seconds if it has not arrived. The page itself
 * contains these lines, which browsers of any age understand.
 */
function fail() {
  document.documentElement.className = "";
}
document.documentElement.className = "loading";
addEventListener("error", fail, true);
setTimeout(fail, 1e4);
if (!("noModule" in document.scripts[0])) fail();
