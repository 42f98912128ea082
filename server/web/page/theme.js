// Dark or light: as the system has it, until the user chooses.

const button = document.getElementById('theme');
const system = matchMedia('(prefers-color-scheme: dark)');

function chosen() {
  try {
    return localStorage.getItem('attend-theme');
  } catch {
    return null;
  }
}

function apply(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  const dark = (theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
  button.setAttribute('aria-pressed', String(dark));
}

export function startTheme() {
  apply(chosen());
  system.addEventListener('change', () => apply(chosen()));
  button.addEventListener('click', () => {
    const dark = button.getAttribute('aria-pressed') === 'true';
    const theme = dark ? 'light' : 'dark';
    try {
      localStorage.setItem('attend-theme', theme);
    } catch {
      // It then holds until the page is loaded again.
    }
    apply(theme);
  });
}
