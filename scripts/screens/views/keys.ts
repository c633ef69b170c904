/** Keys. */
import type { View } from "./view.ts";

export const KEYS: readonly View[] = [
  { name: "keys", address: "keys", needs: ["listKeys"] },
  { name: "keys-none", address: "keys?q=no%20such%20key", shows: ".empty", needs: ["listKeys"] },
  { name: "key", address: ({ key }) => `keys/${key}`, needs: ["listKeys"] },
  {
    name: "key-rotate",
    address: ({ key }) => `keys/${key}`,
    click: ["text='Rotate key'"],
    shows: "dialog",
    needs: ["listKeys", "rotateKey"],
  },
  {
    name: "key-revoke",
    address: ({ key }) => `keys/${key}`,
    click: ["text='Revoke key'"],
    shows: "dialog",
    needs: ["listKeys", "revokeKey"],
  },
  { name: "key-new", address: "keys/new", needs: ["createKey"] },
];
