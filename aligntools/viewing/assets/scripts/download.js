// Files to and from the reader's disk; nothing leaves the machine.

export function download(name, text, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Ask for a text file of the reader's; `take(text, name)` gets it.
export function upload(input, take) {
  input.addEventListener("change", async () => {
    const [file] = input.files;
    input.value = "";
    if (file) take(await file.text(), file.name);
  });
}
