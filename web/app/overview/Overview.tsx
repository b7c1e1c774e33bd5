import { AlertsFired } from './AlertsFired';
import { FirstSteps } from './FirstSteps';
import { FleetTiles } from './FleetTiles';
import { Heading } from './Heading';
import { NeedsAttention } from './NeedsAttention';
import { SuppressedMail } from './SuppressedMail';
import { Tags } from './Tags';
import { TopTalkers } from './TopTalkers';
import { UsageByDay } from './UsageByDay';

/** The first view: the fleet in numbers, for people who do not write queries. */
export function Overview() {
  return (
    <div className="page">
      <Heading />
      <NeedsAttention />
      <FirstSteps />
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
