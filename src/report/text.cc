#include "throttletest/report/text.h"
