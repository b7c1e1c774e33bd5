import { useSession } from '../session';
import { Bar } from './Bar';
import { SignedIn } from './viewer';

/** The bar of a document, such as the handbook: with who is signed in, and for those who are not. */
export function DocumentBar({ place }: { place: string }) {
  const { id, first, ended } = useSession();
  if (id === null || ended) return <Bar place={place} viewer={null} />;
  return <SignedIn key={first} isDocument>{(viewer) => <Bar place={place} viewer={viewer} />}</SignedIn>;
}
