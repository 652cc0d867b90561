// An SVG element with attributes and text, at the end of a parent.
export function svgElement(name, attributes = {}, parent = null, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  parent?.append(made);
  return made;
}
