/** What the server offers to the page. */
export interface Offer {
  /** Whether it lets anybody of its machine in to the demo company. */
  demo?: boolean;
  /** Where clients reach it, where that is configured. */
  publicUrl?: string;
  /** Whether its graph runs stored documents only, and no texts. */
  documentsOnly?: boolean;
}

/** Reads what the server offers; nothing where it does not say it. */
export async function readOffer(signal?: AbortSignal): Promise<Offer> {
  const response = await fetch('/page.json', { signal });
  return (await response.json().catch(() => ({}))) as Offer;
}
