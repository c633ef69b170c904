/** Times and amounts in the org's zone and locale, with the whole of it on hover and for copying. */
import { format } from "../text/org-format.ts";

/** @param as `time` by default */
export const When = ({
  at,
  as = "time",
}: {
  readonly at: string;
  readonly as?: "time" | "day" | "clock";
}) => (
  <time dateTime={at} title={`${format.value.time(at)} ${format.value.place.zone}`}>
    {format.value[as](at)}
  </time>
);

/** @param micro millionths of a US dollar */
export const Money = ({ micro }: { readonly micro: number }) => (
  <span class="number">{format.value.money(micro)}</span>
);
