// The bar and the search of the handbook, whose text the server writes.
import { useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import type { Hit, Search } from './search';
import { begin } from './session';
import { DocumentBar } from './shell/DocumentBar';
import './shell/theme';
import './styles/page.css';
import './styles/docs.css';

const shown = 8;

/** The field that searches the handbook. Its index is made once somebody types. */
function Finder() {
  const [words, setWords] = useState('');
  const [search, setSearch] = useState<Search | null>(null);
  const [failed, setFailed] = useState(false);
  const loading = useRef(false);
  const wanted = words.trim() !== '';
  useEffect(() => {
    if (!wanted || search || loading.current) return;
    loading.current = true;
    import('./search')
      .then(({ load }) => load())
      .then((loaded) => setSearch(() => loaded), () => setFailed(true))
      .finally(() => { loading.current = false; });
  }, [wanted, search]);
  const hits = wanted && search ? search(words).slice(0, shown) : [];
  return (
    <search>
      <label className="visually-hidden" htmlFor="handbook-search">Search the handbook</label>
      <input id="handbook-search" type="search" placeholder="Search the handbook" autoComplete="off" value={words} onChange={(event) => setWords(event.target.value)} />
      <div aria-live="polite">
        {failed && <p className="hint">The search cannot be loaded. Load the page again.</p>}
        {wanted && search && hits.length === 0 && <p className="hint">Nothing is found.</p>}
        {hits.length > 0 && <Hits hits={hits} />}
      </div>
    </search>
  );
}

function Hits({ hits }: { hits: Hit[] }) {
  return (
    <ol className="hits" aria-label="What is found">
      {hits.map(({ address, document, heading }) => (
        <li key={address}>
          <a href={address}>
            {heading}
            {heading !== document && <small>{document}</small>}
          </a>
        </li>
      ))}
    </ol>
  );
}

void begin();
createRoot(document.getElementById('bar')!).render(<DocumentBar place="Handbook" />);
createRoot(document.getElementById('search')!).render(<Finder />);

// On a phone the contents would stand between the reader and the text.
if (matchMedia('(max-width: 900px)').matches) document.querySelector<HTMLDetailsElement>('.contents')!.open = false;
