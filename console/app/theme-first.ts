/** Runs before anything is drawn: the theme that the reader chose, so that no page flashes in the other one. */
{
  const chosen = localStorage.getItem("weir.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
