/** A subscriber as its page shows it. Relations that could not be read are null. */
export interface Subscriber {
  kind: 'CELLULAR' | 'NON_IP' | 'SATELLITE';
  physicalId: string;
  version: string;
  subscriberId: string;
  dataNumber: string | null;
  imsi: string | null;
  fixedIpAddress: string | null;
  nickname: string | null;
  operatorName: string;
  operatorCode: string;
  tariffName: string | null;
  lineRental: number | null;
  contractLength: number | null;
  tariff: { currency: string } | null;
  connectionDate: string;
  expiryDate: string;
  terminateDate: string | null;
  isBarred: boolean;
  isActive: boolean;
  subscriberType: 'PHYSICAL' | 'VIRTUAL';
  group: { groupId: number; name: string } | null;
  networkState: { isTransferring: boolean; isOnline: boolean } | null;
  eid: string | null;
  smdpProvider: string | null;
  parent: { physicalId: string; isEnabledOnParent: boolean } | null;
  profiles: { physicalId: string; nickname: string | null }[] | null;
  dataUsage: string | null;
  tags: { name: string }[] | null;
}
