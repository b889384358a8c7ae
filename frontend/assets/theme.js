// Applies the chosen theme before the first paint, so that the page does not flash.
try {
  const theme = localStorage.getItem('toolgate.theme');
  if (['light', 'dark', 'contrast'].includes(theme)) document.documentElement.dataset.theme = theme;
  if (localStorage.getItem('toolgate.density') === 'compact') document.documentElement.dataset.density = 'compact';
} catch {
  // Storage may be blocked; the system's theme applies then.
}

// The system may ask for more contrast in any theme, and change its mind.
const contrast = matchMedia('(prefers-contrast: more)');
const follow = () => (document.documentElement.dataset.contrast = contrast.matches ? 'more' : '');
contrast.addEventListener('change', follow);
follow();
