/** Answers of the hosted pages: what a visitor sees, what their click does, and where they go afterwards. */
import type { ServerResponse } from "node:http";
import { securityHeaders, sendPage } from "../identity/request.ts";
import { type Engine, SimRefusal } from "./engine.ts";
import { mandatePage, overPage, paymentPage, problemPage } from "./pages.ts";
import type { SimCheckout } from "./state.ts";

export function servePage(
  engine: Engine,
  id: string,
  { method, body }: { readonly method: string; readonly body: string },
  response: ServerResponse,
): void {
  const send = (status: number, page: string): void => sendPage(response, status, page);
  const checkout = engine.page(id);
  const origin = checkout === undefined ? [] : [new URL(checkout.returnUrl).origin];
  for (const [name, value] of Object.entries(securityHeaders(origin))) response.setHeader(name, value);
  if (checkout === undefined) send(404, problemPage("There is no such page."));
  else if (method === "GET") send(200, pageOf(checkout));
  else if (method !== "POST") send(405, problemPage("This page takes GET and POST."));
  else if (isDone(engine, checkout, new URLSearchParams(body))) {
    response.writeHead(303, { location: checkout.returnUrl });
    response.end();
  } else send(409, overPage(checkout));
}

/** False: the page is over. */
function isDone(engine: Engine, checkout: SimCheckout, form: URLSearchParams): boolean {
  try {
    act(engine, checkout, form);
    return true;
  } catch (error) {
    if (error instanceof SimRefusal) return false;
    throw error;
  }
}

function pageOf(checkout: SimCheckout): string {
  if (checkout.state !== "open") return overPage(checkout);
  const path = `/pay/${checkout.id}`;
  return checkout.mode === "payment" ? paymentPage(checkout, path) : mandatePage(checkout, path);
}

/** @throws SimRefusal where the page is over */
function act(engine: Engine, { id, methods }: SimCheckout, form: URLSearchParams): void {
  const chosen = form.get("method") ?? "";
  const method = methods.includes(chosen) ? chosen : (methods[0] as string);
  switch (form.get("act")) {
    case "pay":
      return void engine.pay(id, { method });
    case "fail":
      return void engine.pay(id, { method, outcome: "decline_soft" });
    case "approve":
      return void engine.approveMandate(id, method);
    case "decline":
      return void engine.declineMandate(id, method);
    default:
      return;
  }
}
