// Renders the chart of a results page from its specification, again at every look, when
// htmx has put a new panel in place. Without it the picture and the table stay.

/** @type {View | null} */
let shown = null;

const OPTIONS = {
  mode: "vega-lite",
  renderer: "svg",
  actions: false,
  ast: true, // expressions are interpreted: the policy forbids making code from strings
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};

/**
 * The bundle puts its one function on the window.
 * @typedef {{ finalize: () => void }} View
 * @typedef {{ vegaEmbed: (place: Element, specification: object, options: object) => Promise<View> }} Vega
 */

/** @param {Element} script */
const readSpecification = (script) => {
  const specification = JSON.parse(script.textContent ?? "");
  // The page has its own heading and width; title and size are for the pictures.
  delete specification.title;
  specification.width = "container";
  return specification;
};

const renderChart = async () => {
  const figure = document.getElementById("chart");
  const script = document.getElementById("chart-specification");
  if (!figure?.dataset.bundle || !script || figure.dataset.rendered) return;
  figure.dataset.rendered = "pending";
  await import(figure.dataset.bundle);
  const live = /** @type {HTMLElement} */ (figure.querySelector(".chart-live"));
  const picture = /** @type {HTMLElement} */ (figure.querySelector(".chart-picture"));
  const vega = /** @type {Vega} */ (/** @type {unknown} */ (window));
  live.hidden = false;
  try {
    const view = await vega.vegaEmbed(live, readSpecification(script), OPTIONS);
    shown?.finalize();
    shown = view;
    picture.hidden = true;
    figure.dataset.rendered = "yes";
  } catch (error) {
    live.hidden = true;
    throw error;
  }
};

document.addEventListener("htmx:afterSettle", renderChart);
await renderChart();
