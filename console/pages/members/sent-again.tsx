/** Says that the mail of an invitation is on its way once more. */
import { Note } from "../../parts/note.tsx";

export const SentAgain = ({ to }: { readonly to: string }) => (
  <Note tone="good">
    <p class="break" role="status">
      The mail to {to} is on its way again. They can accept for fourteen days from now.
    </p>
  </Note>
);
