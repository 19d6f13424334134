/* The invited person's time zone, as their browser knows it; they may choose another. */
(() => {
  "use strict";
  const field = document.querySelector("[data-time-zone]");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  // A form that came back with an error keeps what was chosen.
  if (!field || field.form.querySelector("[aria-invalid]")) return;
  if (Array.from(field.options).some((option) => option.value === zone)) field.value = zone;
})();
