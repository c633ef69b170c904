/** Where top-ups are paid: the gateway tells it once, when a top-up is made, so the tab keeps it. */

const at = (id: string): string => `weir.checkout.${id}`;

export const keepCheckout = (storage: Storage, topupId: string, url: string): void =>
  storage.setItem(at(topupId), url);

/** Undefined where the top-up was made in another tab. */
export const checkoutOf = (storage: Storage, topupId: string): string | undefined =>
  storage.getItem(at(topupId)) ?? undefined;
