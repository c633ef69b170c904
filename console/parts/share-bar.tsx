/** A share of a whole in a table: a bar of which the longest is the whole, and the share as text. */
import { format } from "../text/org-format.ts";

/** @param share 0 to 1 */
export const ShareBar = ({ share }: { readonly share: number }) => (
  <span class="share">
    <svg class="share-track" aria-hidden="true">
      <rect width="100%" height="100%" rx="3" />
      <rect class="share-done" width={`${Math.max(0, Math.min(1, share)) * 100}%`} height="100%" rx="3" />
    </svg>
    <span class="share-text">{format.value.share(share)}</span>
  </span>
);
