/** The console in a browser: asks who is signed in, then shows the page of the address. */
import { render } from "preact";
import "./styles/all.css";
import { segments } from "./app/router.ts";
import { openSession } from "./app/session.ts";
import { Shell } from "./app/shell.tsx";

const root = document.getElementById("console");
if (root !== null) render(<Shell />, root);
void openSession(segments.value[0]);
