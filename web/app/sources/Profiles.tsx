import { useAsk } from '../graph/use';
import { Answered, Empty, Panel } from '../shell/parts';
import { to } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Frame, useMayConnect } from './Frame';
import { formats, profilesQuery } from './profile';

/** The profiles that sources can have: those that came with the program, and those of the company. */
export default function Profiles() {
  const { isRestricted } = useViewer();
  const may = useMay('VIEW_STATISTICS_OVERVIEW') && !isRestricted;
  const mayConnect = useMayConnect();
  const asked = useAsk(may ? profilesQuery : null);
  return (
    <Frame current="sourceProfiles">
      {!may ? <Empty>Only users of the whole company with the permission View Statistics Overview see profiles.</Empty> : (
        <Panel id="profiles" title="Profiles" aside={mayConnect && <a className="button" href={to('newSourceProfile')}>New profile</a>}>
          <p className="hint">A profile says how the records of a sender are read. One of the company with the name of a ready one stands in its place.</p>
          <Answered asked={asked} of={({ sourceProfiles }) => sourceProfiles} label="Reading profiles">
            {(all) => (
              <div className="table-scroll" role="region" aria-label="Table of profiles" tabIndex={0}>
                <table className="rows">
                  <thead><tr><th scope="col">Profile</th><th scope="col">Kind</th><th scope="col">Form</th><th scope="col">For whom</th><th scope="col">Changed</th></tr></thead>
                  <tbody>
                    {all.map(({ name, isReady, version, format, description, changedAt }) => (
                      <tr key={name}>
                        <td><a href={to('sourceProfile', {}, name)}><strong>{name}</strong></a></td>
                        <td>{isReady ? <span className="badge">ready</span> : <span className="badge good">version {version}</span>}</td>
                        <td>{formats[format]}</td>
                        <td className="reason">{description || '–'}</td>
                        <td className="time"><Ago at={changedAt} /></td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </Answered>
        </Panel>
      )}
    </Frame>
  );
}
