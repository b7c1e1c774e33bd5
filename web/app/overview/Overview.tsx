import { AlertsFired } from './AlertsFired';
import { FleetTiles } from './FleetTiles';
import { Heading } from './Heading';
import { SuppressedMail } from './SuppressedMail';
import { Tags } from './Tags';
import { TopTalkers } from './TopTalkers';
import { UsageByDay } from './UsageByDay';

/** The first view: the fleet in numbers, for people who do not write queries. */
export function Overview() {
  return (
    <div className="page">
      <Heading />
      <SuppressedMail />
      <FleetTiles />
      <UsageByDay />
      <div className="columns">
        <TopTalkers />
        <AlertsFired />
      </div>
      <Tags />
    </div>
  );
}
