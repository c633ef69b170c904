/** How a call ended, as a word with its tone, and the code of its error. */
import { Badge, type Tone } from "../../parts/note.tsx";

const TONES: Readonly<Record<string, Tone>> = {
  ok: "good",
  error: "bad",
  cancelled: "plain",
  rejected: "warn",
};

/** @param code of the error; empty where there is none */
export const CallStatus = ({ status, code }: { readonly status: string; readonly code: string }) => (
  <span class="row">
    <Badge tone={TONES[status] ?? "plain"}>{status}</Badge>
    {code !== "" && <code class="small">{code}</code>}
  </span>
);
