/** Light, dark, or as the system has it; the reader's choice stays in this browser. */
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "weir.theme";
const stored = localStorage.getItem(KEY);

export const theme = signal<Theme>(stored === "light" || stored === "dark" ? stored : "system");

export function chooseTheme(next: Theme): void {
  theme.value = next;
  if (next === "system") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEY, next);
    document.documentElement.dataset.theme = next;
  }
}
