/** The app of a call by its headers. */
import { expect, test } from "vitest";
import { appOfHeaders } from "../../../../src/inference/exchange/app-name.ts";

test.each([
  ["https://Chat.Acme.example/a?b#c", "Acme", "chat.acme.example"],
  ["http://localhost:3000", "", "localhost:3000"],
  ["https://user:secret@acme.example:443/", "", "acme.example"],
  ["https://bücher.example", "", "xn--bcher-kva.example"],
  ["acme.example", "Acme", "Acme"],
  ["javascript:alert(1)", "Acme", "Acme"],
  ["https://", " Acme\tChat ", "Acme Chat"],
  [`https://acme.example/${"x".repeat(5000)}`, "Acme", "Acme"],
  [`https://${"x.".repeat(80)}example`, "", ""],
  ["", "", ""],
  ["", " \u0000 ", ""],
  ["", "x".repeat(200), "x".repeat(128)],
  ["", `${"x".repeat(127)}😀`, `${"x".repeat(127)}\ufffd`],
])("%j and %j are the app %j", (url, title, app) => {
  expect(appOfHeaders(url, title)).toBe(app);
});
