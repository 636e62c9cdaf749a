// Before anything is drawn: the theme that was switched to in an earlier visit, if any.
{
  const kept = localStorage.getItem("foveate-theme");
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
}
