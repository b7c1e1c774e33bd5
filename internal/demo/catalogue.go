package demo

import "simgraph/domain"

// operator is a network with what its SIMs carry.
type operator struct {
	code, name string
	// calling is the country code of numbers, issuer the operator within an
	// ICCID, iccid the length of one.
	calling, issuer string
	iccid           int
}

var operators = []operator{
	{"23415", "Vodafone UK", "44", "10", 20},
	{"23430", "EE", "44", "30", 19},
	{"23410", "O2 UK", "44", "11", 19},
	{"26201", "Telekom Deutschland", "49", "02", 19},
	{"20801", "Orange France", "33", "01", 19},
	{"20404", "Vodafone Netherlands", "31", "44", 20},
	{"24001", "Telia Sweden", "46", "01", 19},
	{"310410", "AT&T Mobility", "1", "410", 20},
	{"000013", "The Things Network", "", "", 0},
	{"00003B", "Netmore", "", "", 0},
	{"90103", "Iridium", "881", "", 0},
	{"90111", "Inmarsat", "870", "", 0},
}

// network is what a device connects to: a range of operators.
type network struct {
	kind        domain.Kind
	first, last int
	// odds are those of the operators.
	odds []int
}

var (
	cellular  = network{domain.Cellular, 0, 7, []int{34, 18, 10, 14, 9, 7, 4, 4}}
	lorawan   = network{domain.NonIP, 8, 9, []int{60, 40}}
	satellite = network{domain.Satellite, 10, 11, []int{70, 30}}
)

var tariffs = []domain.Tariff{
	{Name: "IoT 5", LineRental: 45, Currency: "GBP"},
	{Name: "IoT 50", LineRental: 150, Currency: "GBP"},
	{Name: "IoT 500", LineRental: 390, Currency: "GBP"},
	{Name: "Video 20G", LineRental: 1450, Currency: "GBP"},
	{Name: "eSIM Roam", LineRental: 275, Currency: "GBP"},
	{Name: "LoRa Flat", LineRental: 90, Currency: "GBP"},
	{Name: "Satellite Burst", LineRental: 1990, Currency: "GBP"},
}

// The groups by number; partners' users must not see what the devices cost.
const (
	Vans     = 1
	partners = 2
	Meters   = 3
	Shops    = 4
	farms    = 5
	atSea    = 6
)

var groups = []domain.Group{
	{GroupID: Vans, Name: "Delivery vans"},
	{GroupID: partners, Name: "Partner: Northline Logistics", HideTariffDetails: true},
	{GroupID: Meters, Name: "Smart meters"},
	{GroupID: Shops, Name: "Shops"},
	{GroupID: farms, Name: "Farm sensors"},
	{GroupID: atSea, Name: "Fleet at sea"},
}

var towns = []string{
	"Leeds", "Bristol", "Cardiff", "Glasgow", "Norwich", "Hamburg", "Köln", "Lyon", "Nantes", "Utrecht", "Malmö", "Boston",
}
