/** The catalog. */
import type { View } from "./view.ts";

export const MODELS: readonly View[] = [
  { name: "models", address: "models", needs: ["listModels"] },
  { name: "model", address: ({ model }) => `models/${model}`, needs: ["listModels"] },
  {
    name: "models-compared",
    address: ({ model, otherModel }) =>
      `models?compare=${encodeURIComponent(model)},${encodeURIComponent(otherModel)}`,
    needs: ["listModels"],
  },
  { name: "models-none", address: "models?q=no%20such%20model", shows: ".empty", needs: ["listModels"] },
];
