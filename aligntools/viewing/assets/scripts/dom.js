// Elements made of names, attributes and text. Text becomes text nodes: markup in it is shown, never read.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined).map((child) => child instanceof Node ? child : String(child)));
  return node;
}

// element("p", { class: "note", click: handler }, "text", otherNode): an HTML element.
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// drawn("circle", { r: 3 }): the same for SVG.
export function drawn(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

// Put other children into a node.
export function refill(node, ...children) {
  node.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Tell those who hear the page instead of seeing it.
export function say(text) {
  byId("said").textContent = text;
}
