// A link that opens a query in the editor: deflated in the fragment, which no
// server sees, and without the token.

export interface Shared {
  query: string;
  variables: string;
}

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function linkTo(shared: Shared): Promise<string> {
  const packed = await through(new TextEncoder().encode(JSON.stringify([shared.query, shared.variables])), new CompressionStream('deflate-raw'));
  const text = btoa(String.fromCharCode(...packed)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return `${location.origin}/#/explore?query=${text}`;
}

/** What a link holds; null when it is damaged. */
export async function readLink(text: string): Promise<Shared | null> {
  try {
    const packed = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    const [query, variables] = JSON.parse(new TextDecoder().decode(await through(packed, new DecompressionStream('deflate-raw'))));
    return typeof query === 'string' && typeof variables === 'string' ? { query, variables } : null;
  } catch {
    return null;
  }
}
