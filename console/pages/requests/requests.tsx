/** Requests: the feed with its filters, or one request whose id is in the address. */
import { segments } from "../../app/router.ts";
import { Feed } from "./feed.tsx";
import { RequestDetail } from "./request-detail.tsx";

export function Requests() {
  const id = segments.value[2];
  return id === undefined ? <Feed /> : <RequestDetail key={id} id={id} />;
}
