import { useFoldout } from './foldout';
import { Mark, Menu } from './icons';
import { placeGroups } from './places';

/** The side bar with the places of the page; where the window is narrow, a drawer behind a button. */
export function Places({ current }: { current: string | null }) {
  const { open, setOpen, box, button } = useFoldout();
  return (
    <div ref={box} className="places">
      <button ref={button} type="button" className="places-button" aria-expanded={open} aria-controls="places" onClick={() => setOpen(!open)}>
        <Menu />
        {current ?? 'Places'}
      </button>
      <nav id="places" aria-label="Places" className={open ? 'open' : undefined} onClick={(event) => event.target instanceof HTMLAnchorElement && setOpen(false)}>
        <a className="home" href="/#/">
          <Mark />
          <span>simgraph</span>
        </a>
        {placeGroups.map(({ name, places }) => (
          <div key={name} className="place-group">
            <p id={`places-${name}`}>{name}</p>
            <ul aria-labelledby={`places-${name}`}>
              {places.map((place) => (
                <li key={place.name}>
                  <a href={place.href} aria-current={place.name === current ? 'page' : undefined}>{place.name}</a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </div>
  );
}
