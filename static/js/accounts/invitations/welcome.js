// @ts-check
/* The invited person's time zone, as their browser knows it; they may choose another. */
const field = document.querySelector("input[data-time-zone]");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
// A form that came back with an error keeps what was chosen.
if (field instanceof HTMLInputElement && !field.form?.querySelector("[aria-invalid]")) {
  if (Array.from(field.list?.options ?? []).some((option) => option.value === zone)) field.value = zone;
}
