/** The playground, and what a newcomer sees. */
import { PLAYGROUND, type View } from "./view.ts";

export const PLAYGROUND_VIEWS: readonly View[] = [
  { name: "playground", address: "playground", needs: PLAYGROUND },
  {
    name: "playground-two",
    address: ({ model, otherModel }) =>
      `playground?model=${encodeURIComponent(model)}&with=${encodeURIComponent(otherModel)}`,
    needs: PLAYGROUND,
  },
  { name: "playground-from", address: ({ tools }) => `playground?from=${tools}`, needs: PLAYGROUND },
  {
    name: "playground-answered",
    address: ({ model }) => `playground?model=${encodeURIComponent(model)}`,
    click: ["text='Explain something'", "text='Send'"],
    shows: ".play-result",
    needs: PLAYGROUND,
  },
  {
    name: "playground-code",
    address: ({ answered }) => `playground?from=${answered}`,
    click: ["text='As code'"],
    shows: "main pre",
    needs: PLAYGROUND,
  },
  { name: "setup", address: "setup", shows: "pre", needs: ["listKeys"] },
  { name: "setup-codex", address: "setup?client=codex", shows: "pre", needs: ["listKeys"] },
  { name: "welcome", address: "welcome", shows: "form", needs: ["getUsage", ...PLAYGROUND] },
];
