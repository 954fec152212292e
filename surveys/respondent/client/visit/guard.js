/**
 * Hides the notice that the page's script cannot run. The notice appears at once if a script is
 * blocked, missing or too new for this browser, and after ten seconds if the script has not
 * arrived. The page itself contains these lines, which browsers of any age understand.
 */
function fail() {
  document.documentElement.className = "";
}
document.documentElement.className = "loading";
addEventListener("error", fail, true);
setTimeout(fail, 1e4);
if (!("noModule" in document.scripts[0])) fail();
