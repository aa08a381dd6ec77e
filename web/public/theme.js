// Runs before the first paint, so that a chosen theme never flashes the other one. src/app/theme.ts owns the key.
try {
  const theme = localStorage.getItem("gemba.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden: the system's theme it is.
}
