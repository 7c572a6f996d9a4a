// What the page is about, as page.py wrote it.

export const data = JSON.parse(document.getElementById("data").textContent);
